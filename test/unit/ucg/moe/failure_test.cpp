// Wrong arguments, ranks that disagree, ranks that send corrupted data, and ranks that die: every
// operation ends with a status.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>

#include "test/support/log_capture.hpp"
#include "test/unit/ucg/moe/world.hpp"
#include "ucg/moe/low_latency/dispatch.hpp"
#include "ucg/moe/normal/dispatch.hpp"
#include "ucg/moe/normal/routed_dispatch.hpp"
#include "ucg/moe/plan/matrices.hpp"
#include "ucs/random/seeded.hpp"

using namespace test::moe;
using reduce::element;
using namespace ucg::moe;
using ucg::schedule::program;

namespace {

scenario small() {
    scenario setup{.ranks = 6, .ranks_per_node = 3, .experts = 12, .uneven = false};
    return setup;
}

// Runs notify on all ranks. Rank 4 passes other arguments.
std::vector<ucs_status_t> notify_with(world& all, const const_matrix& topk,
                                      const ucg::moe::settings& options,
                                      std::shared_ptr<const team> other_team) {
    std::deque<notify> each(all.setup().ranks);
    std::vector<program*> programs;
    for (rank_t rank = 0; rank < all.setup().ranks; ++rank) {
        const ucs_status_t status =
            rank == 4 ? each[rank].init(other_team, topk, options)
                      : each[rank].init(all.team(rank), all.topk(rank), all.setup().settings);
        CHECK(status == UCS_OK);
        programs.push_back(&each[rank]);
    }
    return all.run(programs);
}

void expect_all(const std::vector<ucs_status_t>& ends, ucs_status_t wanted) {
    for (const ucs_status_t end : ends)
        CHECK(end == wanted);
}

// Forwards all calls to another fabric, but changes some bits of sent messages.
class corrupting_fabric final : public ucg::schedule::fabric {
public:
    corrupting_fabric(ucg::schedule::fabric& inner, std::uint64_t seed)
        : fabric_(inner), dice_(seed) {}

    [[nodiscard]] rank_t rank() const noexcept override { return fabric_.rank(); }
    [[nodiscard]] rank_t size() const noexcept override { return fabric_.size(); }
    void post(ucg::schedule::step& step) noexcept override {
        if (step.kind == ucg::schedule::action::send && step.bytes != 0 && dice_.below(2) == 0) {
            const auto* const from = static_cast<const std::byte*>(step.from);
            std::vector<std::byte>& copy = copies_.emplace_back(from, from + step.bytes);
            const std::uint64_t word = dice_.below(step.bytes / 4) * 4;
            const std::uint32_t value = dice_.below(3) == 0
                                            ? static_cast<std::uint32_t>(dice_.next())
                                            : static_cast<std::uint32_t>(dice_.below(64)) - 2;
            std::memcpy(copy.data() + word, &value, sizeof value);
            step.from = copy.data();
        }
        fabric_.post(step);
    }
    void cancel(ucg::schedule::step& step) noexcept override { fabric_.cancel(step); }
    [[nodiscard]] ucs_status_t begin_operation(ucg::schedule::operation& operation,
                                               ucg::schedule::sequence_t& number) override {
        return fabric_.begin_operation(operation, number);
    }
    void end_operation(ucg::schedule::operation& operation) noexcept override {
        fabric_.end_operation(operation);
    }
    void report_failure(ucg::schedule::operation& operation,
                        ucs_status_t status) noexcept override {
        fabric_.report_failure(operation, status);
    }

private:
    ucg::schedule::fabric& fabric_;
    ucs::sys::random dice_;
    std::deque<std::vector<std::byte>> copies_;
};

}  // namespace

TEST_CASE("moe: team refuses a rank that is not there, and a mask of another group", "[moe]") {
    const placement placement(4);
    CHECK(team::make(placement, 4, 8).status() == UCS_ERR_INVALID_PARAM);
    const std::uint8_t masked[] = {0, 1, 0};
    CHECK(team::make(placement, 0, 8, masked).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("moe: a notify that is started again ends with an error", "[moe]") {
    const test::log_capture log;
    world all(small());
    on_all<notify> routing = notify_on_all(all);
    all.run_well(routing.programs);
    expect_all(all.run(routing.programs), UCS_ERR_INVALID_PARAM);
    for (notify& one : routing.each)
        CHECK(one.take() != nullptr);
}

TEST_CASE("moe: ranks that disagree all end with an error", "[moe]") {
    const test::log_capture log;
    for (int which = 0; which < 5; ++which) {
        scenario setup = small();
        setup.settings.all_counts = which == 4;
        world all(setup);
        const_matrix topk = all.topk(4);
        ucg::moe::settings options = all.setup().settings;
        std::shared_ptr<const team> other_team = all.team(4);
        if (which == 0) topk.elements = 1, topk.row_stride = 16;
        if (which == 1) options.channels = 5;
        if (which == 2)
            other_team = std::make_shared<const team>(*team::make(all.node_placement(), 4, 24));
        if (which >= 3) options.all_counts = !options.all_counts;
        const auto ends = notify_with(all, topk, options, other_team);
        for (const ucs_status_t end : ends)
            CHECK((end == UCS_ERR_INVALID_PARAM || end == UCS_ERR_MESSAGE_TRUNCATED));
    }
}

TEST_CASE("moe: an operation reports the ranks that it waits for", "[moe]") {
    const test::log_capture log;
    world all(small());
    on_all<notify> routing = notify_on_all(all);
    std::deque<ucg::schedule::operation> operations;
    for (rank_t rank = 0; rank < 6; ++rank) {
        operations.emplace_back(all.net().fabric(rank), all.net().frames())
            .init(routing.each[rank]);
        if (rank != 4) operations.back().start();
    }
    all.net().run();
    CHECK(operations[1].missing() == std::vector<rank_t>{4});  // rank 1 is the relay of rank 4
    CHECK(operations[3].missing() == std::vector<rank_t>{4});
    operations[1].fail(UCS_ERR_TIMED_OUT);
    all.net().run();
    operations[4].start();
    for (const ucg::schedule::operation& one : operations)
        CHECK(one.status() == UCS_ERR_TIMED_OUT);
}

TEST_CASE("moe: notify and dispatch in one operation fail if the output has too few rows",
          "[moe]") {
    const test::log_capture log;
    world all(small());
    const auto plans = all.plans();
    using ucg::moe::routed_dispatch;
    std::deque<own_matrix> memory;
    const on_all<routed_dispatch> each(all, [&](routed_dispatch& one, rank_t rank) {
        const std::uint32_t rows = plans[rank]->receives.rows - (rank == 4 ? 1 : 0);
        ucg::moe::dispatch_tensors tensors;
        tensors.from[values] = memory.emplace_back(all.tokens(rank), 16, element::bf16).view();
        tensors.into.into[values] = memory.emplace_back(rows, 16, element::bf16).view();
        return one.init(all.team(rank), all.topk(rank), all.setup().settings, tensors, 0);
    });
    expect_all(all.run(each.programs), UCS_ERR_BUFFER_TOO_SMALL);
}

TEST_CASE("moe: low latency refuses unaligned distances between experts", "[moe]") {
    const test::log_capture log;
    world all(small());
    own_matrix x(all.tokens(0), 8, element::bf16), out(2 * 6 * 20 + 1, 8, element::bf16);
    ucg::moe::low_latency_dispatch_tensors tensors{x.view(), out.stack(6 * 20), {}, {}};
    const auto init = [&] {
        low_latency_dispatch one;
        return one.init(all.team(0), {20, false, ucg::moe::scaling::exact}, all.topk(0), tensors);
    };
    CHECK(init() == UCS_OK);
    tensors.values.expert_stride += 1;
    CHECK(init() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("the output has experts at distances of 1921 bytes") == 1);
    tensors.values.expert_stride += 1;
    CHECK(init() == UCS_OK);
}

// Runs a program on each rank; the messages of rank 1 are corrupted. Returns the status of each
// rank.
std::vector<ucs_status_t> run_with_corruption(world& all, const std::vector<program*>& programs,
                                              std::uint64_t seed) {
    corrupting_fabric corrupting(all.net().fabric(1), seed);
    std::deque<ucg::schedule::operation> operations;
    for (rank_t rank = 0; rank < all.setup().ranks; ++rank) {
        ucg::schedule::fabric& fabric = all.net().fabric(rank);
        operations.emplace_back(rank == 1 ? corrupting : fabric, all.net().frames())
            .init(*programs[rank]);
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

TEST_CASE("moe: corrupted messages of notify make no rank crash or hang", "[moe]") {
    const test::log_capture log;
    std::ptrdiff_t refused = 0, compared = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        INFO("seed " << seed);
        scenario setup = small();
        setup.gate_kind = gate::with_holes;
        setup.seed = seed;
        setup.settings.all_counts = setup.settings.holders = seed % 2 == 0;
        world all(setup);
        on_all<notify> routing = notify_on_all(all);
        const std::vector<ucs_status_t> ends = run_with_corruption(all, routing.programs, seed);
        refused += errors(ends);
        if (!setup.settings.all_counts) continue;
        // The group-wide counts agree with the rows that the rank receives.
        for (rank_t rank = 0; rank < setup.ranks; ++rank) {
            if (ends[rank] != UCS_OK) continue;
            const auto plan = routing.each[rank].take();
            const ucg::moe::table sums = ucg::moe::received_by_all(*plan);
            const ucg::moe::table own = ucg::moe::received(*plan);
            for (rank_t source = 0; source < setup.ranks; ++source, ++compared)
                REQUIRE(sums[std::size_t{source} * setup.ranks + rank] == own[source]);
        }
    }
    CHECK(refused > 300);
    CHECK(compared > 300);
}

// Token numbers must be valid, because callers may use them as indices.
TEST_CASE("moe: corrupted messages of low latency make no rank crash or hang", "[moe]") {
    const test::log_capture log;
    constexpr std::uint32_t most = 20;
    std::ptrdiff_t refused = 0, compared = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        INFO("seed " << seed);
        scenario setup = small();
        setup.gate_kind = gate::with_holes;
        setup.seed = seed;
        setup.hidden = seed % 2 == 0 ? 8 : 128;
        world all(setup);
        const std::uint32_t capacity = most * setup.ranks;
        std::deque<own_matrix> memory;
        std::vector<own_matrix*> token_numbers;
        const ucg::moe::slot_settings options{most, setup.hidden == 128, ucg::moe::scaling::exact};
        const auto stacked = [&](std::uint32_t elements, element type) {
            return memory.emplace_back(2 * capacity, elements, type).stack(capacity);
        };
        const on_all<low_latency_dispatch> all_of(all, [&](low_latency_dispatch& one, rank_t rank) {
            ucg::moe::low_latency_dispatch_tensors tensors;
            tensors.x = memory.emplace_back(all.tokens(rank), setup.hidden, element::bf16).view();
            tensors.values =
                stacked(setup.hidden, options.cast ? element::fp8_e4m3 : element::bf16);
            if (options.cast) tensors.scales = stacked(1, element::fp32);
            token_numbers.push_back(&memory.emplace_back(2, capacity, element::int32));
            tensors.token_numbers = token_numbers.back()->view();
            return one.init(all.team(rank), options, all.topk(rank), tensors);
        });
        refused += errors(run_with_corruption(all, all_of.programs, seed));
        for (rank_t rank = 0; rank < setup.ranks; ++rank) {
            const auto made = all_of.each[rank].made();
            for (std::uint32_t e = 0; made != nullptr && e < 2; ++e) {
                REQUIRE(made->counts[e] <= capacity);
                for (std::uint32_t row = 0; row < made->counts[e]; ++row, ++compared) {
                    const auto token = integer_at(token_numbers[rank]->view(), e, row);
                    REQUIRE((token >= 0 && token < most));
                }
            }
        }
    }
    CHECK(refused > 300);
    CHECK(compared > 300);
}

TEST_CASE("moe: a rank dies, is masked, and the others go on", "[moe]") {
    const test::log_capture log;
    scenario setup = small();
    setup.tokens = 30;
    world all(setup);
    all.net().kill(2, 0);
    const on_all<notify> first = notify_on_all(all);
    const std::vector<ucs_status_t> ends = all.run(first.programs);
    // Its messages to the other node arrived before it died.
    for (const rank_t rank : {0U, 1U})
        CHECK(ends[rank] == UCS_ERR_ENDPOINT_TIMEOUT);
    for (const rank_t rank : {3U, 4U, 5U})
        CHECK((ends[rank] == UCS_OK || ends[rank] == UCS_ERR_ENDPOINT_TIMEOUT));

    scenario without = setup;
    without.masked = {0, 0, 1, 0, 0, 0};
    world living(without);  // for comparison: a network without dead ranks
    const auto wanted = living.plans();
    on_all<notify> again(living, [&](notify& one, rank_t rank) {
        return one.init(living.team(rank), all.topk(rank), setup.settings);
    });
    all.run_well(again.programs);
    for (const rank_t rank : living.living()) {
        const auto made = again.each[rank].take();
        CHECK(made->receives.rows == wanted[rank]->receives.rows);
        CHECK(made->receives.counts == wanted[rank]->receives.counts);
        CHECK(made->receives.chosen == wanted[rank]->receives.chosen);
    }
}
