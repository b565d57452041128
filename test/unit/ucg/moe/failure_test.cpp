// Wrong arguments, ranks that disagree, that lie and that die: everybody ends, with a status.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/combine.hpp"
#include "ucg/moe/dispatch.hpp"
#include "ucg/moe/low_latency_dispatch.hpp"
#include "ucg/moe/matrices.hpp"
#include "ucg/moe/routed_dispatch.hpp"
#include "uct/sim/random.hpp"

using namespace test::moe;
using reduce::element;
using ucg::moe::combine;
using ucg::moe::dispatch;
using ucg::moe::expansion;
using ucg::moe::low_latency_dispatch;
using ucg::moe::notify;
using ucg::moe::scales;
using ucg::moe::team;
using ucg::moe::values;
using ucg::moe::weights;
using ucg::schedule::program;

namespace {

scenario small() {
    scenario of;
    of.ranks = 6;
    of.ranks_per_node = 3;
    of.experts = 12;
    of.uneven = false;
    return of;
}

// notify of all ranks; rank 4 gives something else.
std::vector<ucs_status_t> notify_with(world& all, const const_matrix& topk,
                                      const ucg::moe::settings& by, std::shared_ptr<const team> who,
                                      ucs_status_t expected) {
    std::deque<notify> each(all.of().ranks);
    std::vector<program*> programs;
    for (rank_t rank = 0; rank < all.of().ranks; ++rank) {
        const ucs_status_t status =
            rank == 4 ? each[rank].init(who, topk, by)
                      : each[rank].init(all.team(rank), all.topk(rank), all.of().by);
        CHECK(status == (rank == 4 ? expected : UCS_OK));
        programs.push_back(&each[rank]);
    }
    return all.run(programs);
}

void expect_all(const std::vector<ucs_status_t>& ends, ucs_status_t wanted) {
    for (const ucs_status_t end : ends)
        CHECK(end == wanted);
}

// Passes everything on to another fabric, but changes some bits of what is sent.
class lying_fabric final : public ucg::schedule::fabric {
public:
    lying_fabric(ucg::schedule::fabric& by, std::uint64_t seed) : by_(by), dice_(seed) {}

    [[nodiscard]] rank_t rank() const noexcept override { return by_.rank(); }
    [[nodiscard]] rank_t size() const noexcept override { return by_.size(); }
    void post(ucg::schedule::step& what) noexcept override {
        if (what.what == ucg::schedule::action::send && what.bytes != 0 && dice_.below(2) == 0) {
            const auto* const from = static_cast<const std::byte*>(what.from);
            std::vector<std::byte>& copy = lies_.emplace_back(from, from + what.bytes);
            const std::uint64_t word = dice_.below(what.bytes / 4) * 4;
            const std::uint32_t lie = dice_.below(3) == 0
                                          ? static_cast<std::uint32_t>(dice_.next())
                                          : static_cast<std::uint32_t>(dice_.below(64)) - 2;
            std::memcpy(copy.data() + word, &lie, sizeof lie);
            what.from = copy.data();
        }
        by_.post(what);
    }
    void cancel(ucg::schedule::step& what) noexcept override { by_.cancel(what); }
    [[nodiscard]] ucs_status_t enter(ucg::schedule::operation& what,
                                     ucg::schedule::sequence_t& number) noexcept override {
        return by_.enter(what, number);
    }
    void leave(ucg::schedule::operation& what) noexcept override { by_.leave(what); }
    void announce(ucg::schedule::operation& what, ucs_status_t why) noexcept override {
        by_.announce(what, why);
    }

private:
    ucg::schedule::fabric& by_;
    uct::sim::random dice_;
    std::deque<std::vector<std::byte>> lies_;
};

}  // namespace

TEST_CASE("moe: experts that cannot be dealt to the ranks, and masks that cannot be", "[moe]") {
    const test::log_capture log;
    const placement where(4);
    CHECK(team::make(where, 0, 10).status() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("10 experts cannot be dealt to 4 ranks") == 1);
    CHECK(team::make(where, 0, 0).status() == UCS_ERR_INVALID_PARAM);
    CHECK(team::make(where, 4, 8).status() == UCS_ERR_INVALID_PARAM);
    const std::uint8_t own[] = {0, 1, 0, 0};
    CHECK(team::make(where, 1, 8, own).status() == UCS_ERR_INVALID_PARAM);
    CHECK(team::make(where, 0, 8, own).ok());
    CHECK(team::make(where, 0, 8, std::span(own).first(3)).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("moe: a choice out of range ends notify on every rank", "[moe]") {
    const test::log_capture log;
    for (const std::int64_t expert : {-2LL, 12LL, 1LL << 40}) {
        world all(small());
        std::vector<std::int64_t> topk(20, 1);
        topk[13] = expert;
        const const_matrix wrong = ucg::moe::dense_matrix(
            reinterpret_cast<const std::byte*>(topk.data()), 10, 2, element::int64);
        expect_all(notify_with(all, wrong, all.of().by, all.team(4), UCS_ERR_INVALID_PARAM),
                   UCS_ERR_INVALID_PARAM);
        const std::string said = "token 6 chose expert " + std::to_string(expert) + " at place 1";
        CHECK(log.count(said, ucs::log::level::error) == 1);
    }
}

TEST_CASE("moe: a notify that is started again ends with an error", "[moe]") {
    const test::log_capture log;
    world all(small());
    std::deque<notify> each(6);
    std::vector<program*> programs;
    for (rank_t rank = 0; rank < 6; ++rank) {
        REQUIRE(each[rank].init(all.team(rank), all.topk(rank), all.of().by) == UCS_OK);
        programs.push_back(&each[rank]);
    }
    all.run_well(programs);
    expect_all(all.run(programs), UCS_ERR_INVALID_PARAM);
    for (notify& one : each)
        CHECK(one.take() != nullptr);
}

TEST_CASE("moe: choices at a null pointer, of a wrong type, of too many", "[moe]") {
    const test::log_capture log;
    for (int which = 0; which < 4; ++which) {
        world all(small());
        const_matrix wrong = all.topk(4);
        if (which == 0) wrong.data = nullptr;
        if (which == 1) wrong.type = element::fp32;
        if (which == 2) wrong.rows = std::uint64_t{1} << 62U;
        if (which == 3) wrong.elements = 0;
        expect_all(notify_with(all, wrong, all.of().by, all.team(4), UCS_ERR_INVALID_PARAM),
                   UCS_ERR_INVALID_PARAM);
    }
}

TEST_CASE("moe: ranks that disagree all end with an error", "[moe]") {
    const test::log_capture log;
    for (int which = 0; which < 5; ++which) {
        scenario of = small();
        of.by.all_counts = which == 4;
        world all(of);
        const_matrix topk = all.topk(4);
        ucg::moe::settings by = all.of().by;
        std::shared_ptr<const team> who = all.team(4);
        if (which == 0) topk.elements = 1, topk.row_stride = 16;
        if (which == 1) by.channels = 5;
        if (which == 2) who = std::make_shared<const team>(*team::make(all.where(), 4, 24));
        if (which >= 3) by.all_counts = !by.all_counts;
        const auto ends = notify_with(all, topk, by, who, UCS_OK);
        for (const ucs_status_t end : ends)
            CHECK((end == UCS_ERR_INVALID_PARAM || end == UCS_ERR_MESSAGE_TRUNCATED));
    }
}

TEST_CASE("moe: buffers that do not fit end dispatch everywhere, and nothing hangs", "[moe]") {
    const test::log_capture log;
    world all(small());
    const auto plans = all.plans();
    enum { no_x, few_rows, other_type, no_output, odd_scales, odd_weights, unaligned, wrongs };
    for (int which = 0; which < wrongs; ++which) {
        std::deque<dispatch> each(6);
        std::deque<own_matrix> memory;
        std::vector<program*> programs;
        for (rank_t rank = 0; rank < 6; ++rank) {
            ucg::moe::dispatch_tensors what;
            own_matrix& x = memory.emplace_back(all.tokens(rank), 16, element::bf16);
            own_matrix& out = memory.emplace_back(plans[rank]->in.rows, 16, element::bf16);
            what.from[values] = x.view();
            what.into.into[values] = out.view();
            ucs_status_t wanted = UCS_OK;
            if (rank == 4) {
                wanted = which == few_rows ? UCS_ERR_BUFFER_TOO_SMALL : UCS_ERR_INVALID_PARAM;
                if (which == no_x) what.from[values].data = nullptr;
                if (which == few_rows) --what.into.into[values].rows;
                if (which == other_type) what.into.into[values].type = element::fp16;
                if (which == no_output) what.into.into[values].data = nullptr;
                if (which == odd_scales) {
                    what.from[scales] = x.view();
                    what.from[scales].type = element::fp32;
                }
                if (which == odd_weights) {
                    what.from[weights] = x.view();
                    what.from[weights].type = element::fp32;
                }
                if (which == unaligned) ++what.from[values].data;
            }
            INFO("case " << which << ", rank " << rank);
            CHECK(each[rank].init(plans[rank], what) == wanted);
            programs.push_back(&each[rank]);
        }
        const std::vector<ucs_status_t> ends = all.run(programs);
        for (rank_t rank = 0; rank < 6; ++rank)
            CHECK(ends[rank] ==
                  (which == few_rows ? UCS_ERR_BUFFER_TOO_SMALL : UCS_ERR_INVALID_PARAM));
    }
}

TEST_CASE("moe: who waits for a rank that takes no part is asked whom it waits for", "[moe]") {
    const test::log_capture log;
    world all(small());
    std::deque<notify> each(6);
    std::deque<ucg::schedule::operation> operations;
    for (rank_t rank = 0; rank < 6; ++rank) {
        REQUIRE(each[rank].init(all.team(rank), all.topk(rank), all.of().by) == UCS_OK);
        operations.emplace_back(all.net().of(rank), all.net().frames()).init(each[rank]);
        if (rank != 4) operations.back().start();
    }
    all.net().run();
    CHECK(operations[1].missing() == std::vector<rank_t>{4});  // whose relay it is
    CHECK(operations[3].missing() == std::vector<rank_t>{4});
    operations[1].fail(UCS_ERR_TIMED_OUT);
    all.net().run();
    operations[4].start();
    for (const ucg::schedule::operation& one : operations)
        CHECK(one.status() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("moe: notify and dispatch at once, into too little room", "[moe]") {
    const test::log_capture log;
    world all(small());
    const auto plans = all.plans();
    std::deque<ucg::moe::routed_dispatch> each(6);
    std::deque<own_matrix> memory;
    std::vector<program*> programs;
    for (rank_t rank = 0; rank < 6; ++rank) {
        const std::uint32_t room = plans[rank]->in.rows - (rank == 4 ? 1 : 0);
        ucg::moe::dispatch_tensors what;
        what.from[values] = memory.emplace_back(all.tokens(rank), 16, element::bf16).view();
        what.into.into[values] = memory.emplace_back(room, 16, element::bf16).view();
        CHECK(each[rank].init(all.team(rank), all.topk(rank), all.of().by, what, 0) == UCS_OK);
        programs.push_back(&each[rank]);
    }
    expect_all(all.run(programs), UCS_ERR_BUFFER_TOO_SMALL);
}

TEST_CASE("moe: combine refuses what it cannot add up", "[moe]") {
    const test::log_capture log;
    world all(small());
    const auto plans = all.plans();
    own_matrix x(plans[0]->in.rows, 16, element::fp8_e4m3), sum(all.tokens(0), 16, element::bf16);
    ucg::moe::combine_tensors what;
    what.from[values] = x.view();
    what.into[values] = sum.view();
    combine one;
    CHECK(one.init(plans[0], what) == UCS_ERR_INVALID_PARAM);
    x = own_matrix(plans[0]->in.rows, 16, element::bf16, 0, 2);
    what.from[values] = x.view();
    CHECK(one.init(plans[0], what) == UCS_ERR_INVALID_PARAM);
    x = own_matrix(plans[0]->in.rows, 16, element::bf16);
    what.from[values] = x.view();
    CHECK(one.init(plans[0], what) == UCS_OK);
    --what.into[values].rows;
    CHECK(one.init(plans[0], what) == UCS_ERR_BUFFER_TOO_SMALL);
    CHECK(expansion::make(plans[0]->in, 0).status() == UCS_ERR_INVALID_PARAM);
    CHECK(expansion::make(plans[0]->in, 1U << 31U).status() == UCS_ERR_EXCEEDS_LIMIT);
}

// Such a request could be made, and ended with an error in each start.
TEST_CASE("moe: notify and dispatch at once refuse what cannot be before they know rows", "[moe]") {
    const test::log_capture log;
    world all(small());
    enum {
        right,
        no_x,
        few_tokens,
        other_type,
        no_output,
        other_length,
        odd_scales,
        chosen,
        wrongs
    };
    for (int which = 0; which < wrongs; ++which) {
        INFO("case " << which);
        own_matrix x(all.tokens(0), 16, element::bf16), out(100, 16, element::bf16);
        own_matrix experts(100, 2, element::int64);
        ucg::moe::dispatch_tensors what;
        what.from[values] = x.view();
        what.into.into[values] = out.view();
        if (which == no_x) what.from[values].data = nullptr;
        if (which == few_tokens) --what.from[values].rows;
        if (which == other_type) what.into.into[values].type = element::fp16;
        if (which == no_output) what.into.into[values].data = nullptr;
        if (which == other_length) --what.into.into[values].elements;
        if (which == odd_scales) what.from[scales] = x.view();
        if (which == chosen) what.into.chosen = experts.view();
        ucg::moe::routed_dispatch one;
        const ucs_status_t wanted = which == right        ? UCS_OK
                                    : which == few_tokens ? UCS_ERR_BUFFER_TOO_SMALL
                                                          : UCS_ERR_INVALID_PARAM;
        // Experts are not told where each choice has a row of its own.
        CHECK(one.init(all.team(0), all.topk(0), all.of().by, what, which == chosen ? 4 : 0) ==
              wanted);
    }
}

TEST_CASE("moe: distances between experts that would put elements astray", "[moe]") {
    const test::log_capture log;
    world all(small());
    own_matrix x(all.tokens(0), 8, element::bf16), out(2 * 6 * 20 + 1, 8, element::bf16);
    ucg::moe::low_latency_tensors what{x.view(), {out.view(), 6 * 20 * 16}, {}, {}};
    what.values.first.rows = 6 * 20;
    const auto init = [&] {
        low_latency_dispatch one;
        return one.init(all.team(0), {20, false, ucg::moe::scaling::exact}, all.topk(0), what);
    };
    CHECK(init() == UCS_OK);
    what.values.expert_stride += 1;
    CHECK(init() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("the output has experts at distances of 1921 bytes") == 1);
    what.values.expert_stride += 1;
    CHECK(init() == UCS_OK);
}

TEST_CASE("moe: low latency with more tokens than were agreed on", "[moe]") {
    const test::log_capture log;
    world all(small());
    std::deque<low_latency_dispatch> each(6);
    std::deque<own_matrix> memory;
    std::vector<program*> programs;
    for (rank_t rank = 0; rank < 6; ++rank) {
        own_matrix& x = memory.emplace_back(all.tokens(rank), 8, element::bf16);
        own_matrix& values = memory.emplace_back(2 * 6 * 20, 8, element::bf16);
        ucg::moe::low_latency_tensors what{x.view(), {values.view(), 6 * 20 * 16}, {}, {}};
        what.values.first.rows = 6 * 20;
        const ucg::moe::slot_settings by{rank == 4 ? 19U : 20U, false, ucg::moe::scaling::exact};
        CHECK(each[rank].init(all.team(rank), by, all.topk(rank), what) ==
              (rank == 4 ? UCS_ERR_INVALID_PARAM : UCS_OK));
        programs.push_back(&each[rank]);
    }
    expect_all(all.run(programs), UCS_ERR_INVALID_PARAM);
}

// Runs a program of each rank, of which rank 1 lies. How each ended.
std::vector<ucs_status_t> run_with_liar(world& all, const std::vector<program*>& programs,
                                        std::uint64_t seed) {
    lying_fabric liar(all.net().of(1), seed);
    std::deque<ucg::schedule::operation> operations;
    for (rank_t rank = 0; rank < all.of().ranks; ++rank) {
        ucg::schedule::fabric& by = all.net().of(rank);
        operations.emplace_back(rank == 1 ? liar : by, all.net().frames()).init(*programs[rank]);
    }
    for (ucg::schedule::operation& one : operations)
        one.start();
    all.net().run();
    std::vector<ucs_status_t> ends;
    for (const ucg::schedule::operation& one : operations) {
        CHECK(one.status() != UCS_INPROGRESS);
        ends.push_back(one.status());
    }
    return ends;
}

std::ptrdiff_t errors(const std::vector<ucs_status_t>& ends) {
    return std::ranges::count_if(ends, [](ucs_status_t end) { return end != UCS_OK; });
}

TEST_CASE("moe: whatever a rank says in notify, nobody crashes and nobody hangs", "[moe]") {
    const test::log_capture log;
    std::ptrdiff_t refused = 0, told = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        INFO("seed " << seed);
        scenario of = small();
        of.how = gate::with_holes;
        of.seed = seed;
        of.by.all_counts = of.by.holders = seed % 2 == 0;
        world all(of);
        std::deque<notify> each(of.ranks);
        std::vector<program*> programs;
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            REQUIRE(each[rank].init(all.team(rank), all.topk(rank), of.by) == UCS_OK);
            programs.push_back(&each[rank]);
        }
        const std::vector<ucs_status_t> ends = run_with_liar(all, programs, seed);
        refused += errors(ends);
        if (!of.by.all_counts) continue;
        // What a rank was told of all fits what it gets itself.
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            if (ends[rank] != UCS_OK) continue;
            const auto plan = each[rank].take();
            const ucg::moe::table sums = ucg::moe::received_by_all(*plan);
            const ucg::moe::table own = ucg::moe::received(*plan);
            for (rank_t source = 0; source < of.ranks; ++source, ++told)
                REQUIRE(sums[std::size_t{source} * of.ranks + rank] == own[source]);
        }
    }
    CHECK(refused > 300);
    CHECK(told > 300);
}

// What it says of its tokens are numbers that callers may use as places.
TEST_CASE("moe: whatever a rank says in low latency, nobody crashes and nobody hangs", "[moe]") {
    const test::log_capture log;
    constexpr std::uint32_t most = 20;
    std::ptrdiff_t refused = 0, told = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        INFO("seed " << seed);
        scenario of = small();
        of.how = gate::with_holes;
        of.seed = seed;
        of.hidden = seed % 2 == 0 ? 8 : 128;
        world all(of);
        const std::uint32_t capacity = most * of.ranks;
        std::deque<low_latency_dispatch> each(of.ranks);
        std::deque<own_matrix> memory;
        std::vector<own_matrix*> tokens_of;
        std::vector<program*> programs;
        const ucg::moe::slot_settings by{most, of.hidden == 128, ucg::moe::scaling::exact};
        const auto stacked = [&](std::uint32_t elements, element type) {
            ucg::moe::stack made{memory.emplace_back(2 * capacity, elements, type).view(), 0};
            made.first.rows = capacity;
            made.expert_stride = made.first.row_stride * std::ptrdiff_t{capacity};
            return made;
        };
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            ucg::moe::low_latency_tensors what;
            what.x = memory.emplace_back(all.tokens(rank), of.hidden, element::bf16).view();
            what.values = stacked(of.hidden, by.cast ? element::fp8_e4m3 : element::bf16);
            if (by.cast) what.scales = stacked(1, element::fp32);
            tokens_of.push_back(&memory.emplace_back(2, capacity, element::int32));
            what.tokens_of = tokens_of.back()->view();
            REQUIRE(each[rank].init(all.team(rank), by, all.topk(rank), what) == UCS_OK);
            programs.push_back(&each[rank]);
        }
        refused += errors(run_with_liar(all, programs, seed));
        for (rank_t rank = 0; rank < of.ranks; ++rank) {
            const auto made = each[rank].made();
            for (std::uint32_t e = 0; made != nullptr && e < 2; ++e) {
                REQUIRE(made->counts[e] <= capacity);
                for (std::uint32_t row = 0; row < made->counts[e]; ++row, ++told) {
                    const auto token = integer_at(tokens_of[rank]->view(), e, row);
                    REQUIRE((token >= 0 && token < most));
                }
            }
        }
    }
    CHECK(refused > 300);
    CHECK(told > 300);
}

TEST_CASE("moe: a rank dies, is masked, and the others go on", "[moe]") {
    const test::log_capture log;
    scenario of = small();
    of.tokens = 30;
    world all(of);
    all.net().kill(2, 0);
    std::deque<notify> each(of.ranks);
    std::vector<program*> programs;
    for (rank_t rank = 0; rank < of.ranks; ++rank) {
        REQUIRE(each[rank].init(all.team(rank), all.topk(rank), of.by) == UCS_OK);
        programs.push_back(&each[rank]);
    }
    const std::vector<ucs_status_t> ends = all.run(programs);
    // What it said to the other node arrived before it died.
    for (const rank_t rank : {0U, 1U})
        CHECK(ends[rank] == UCS_ERR_ENDPOINT_TIMEOUT);
    for (const rank_t rank : {3U, 4U, 5U})
        CHECK((ends[rank] == UCS_OK || ends[rank] == UCS_ERR_ENDPOINT_TIMEOUT));

    scenario without = of;
    without.masked = {0, 0, 1, 0, 0, 0};
    world living(without);  // to compare with, on a network where nobody died
    const auto wanted = living.plans();
    std::deque<notify> again(of.ranks);
    programs.assign(of.ranks, nullptr);
    for (rank_t rank = 0; rank < of.ranks; ++rank) {
        if (rank == 2) continue;
        REQUIRE(again[rank].init(living.team(rank), all.topk(rank), of.by) == UCS_OK);
        programs[rank] = &again[rank];
    }
    all.run_well(programs);
    for (rank_t rank = 0; rank < of.ranks; ++rank) {
        if (rank == 2) continue;
        const auto made = again[rank].take();
        CHECK(made->in.rows == wanted[rank]->in.rows);
        CHECK(made->in.counts == wanted[rank]->in.counts);
        CHECK(made->in.chosen == wanted[rank]->in.chosen);
    }
}
