// Layouts and contents fit each other: a collective done by hand between ranks of one process gives
// what is expected, and any change of one element is seen.
#include "tools/ucg_perf/content.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <vector>

using namespace tools::ucg_perf;

namespace {

constexpr ucg_type_t type = UCG_TYPE_INT32;
constexpr std::uint64_t round_number = 7;

bool reduces(ucg_coll_t what) {
    switch (what) {
        case UCG_COLL_REDUCE:
        case UCG_COLL_ALLREDUCE:
        case UCG_COLL_REDUCE_SCATTER:
        case UCG_COLL_REDUCE_SCATTER_BLOCK:
        case UCG_COLL_SCAN:
        case UCG_COLL_EXSCAN:
            return true;
        default:
            return false;
    }
}

struct rank_memory {
    layout of;
    std::vector<std::int32_t> source, target;

    [[nodiscard]] const std::int32_t* given() const {
        return of.given_in_target ? target.data() : source.data();
    }
};

std::uint64_t sum(const std::vector<std::uint64_t>& of, std::uint32_t upto) {
    return std::accumulate(of.begin(), of.begin() + upto, std::uint64_t{0});
}

// As the documentation of ucg_coll_args_t has it, element by element.
class by_hand {
public:
    by_hand(const wanted_layout& what, std::uint32_t ranks) : what_(what), ranks_(ranks) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            layout of = make_layout(what, rank, ranks);
            std::vector<std::int32_t> source(of.source_elements), target(of.target_elements);
            all_.push_back({std::move(of), std::move(source), std::move(target)});
        }
    }

    void write(const numbers& by) {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank)
            content(all_[rank].of, by, rank)
                .write(all_[rank].source.data(), all_[rank].target.data(), round_number);
    }

    void exchange() {
        std::vector<rank_memory> before = all_;
        for (std::uint32_t to = 0; to < ranks_; ++to)
            for (std::uint32_t from = 0; from < ranks_; ++from)
                move(before[from], from, all_[to], to);
    }

    std::vector<rank_memory>& all() { return all_; }

private:
    static bool gathers(ucg_coll_t what) {
        return what == UCG_COLL_GATHER || what == UCG_COLL_GATHERV;
    }
    static bool scatters(ucg_coll_t what) {
        return what == UCG_COLL_SCATTER || what == UCG_COLL_SCATTERV;
    }
    [[nodiscard]] std::uint64_t count_of(const std::vector<std::uint64_t>& counts,
                                         std::uint32_t which) const {
        return counts.empty() ? what_.count : counts[which];
    }
    [[nodiscard]] std::uint64_t begin_of(const std::vector<std::uint64_t>& counts,
                                         std::uint32_t which) const {
        return counts.empty() ? what_.count * which : sum(counts, which);
    }

    void move(const rank_memory& from, std::uint32_t source, rank_memory& to,
              std::uint32_t target) const {
        const ucg_coll_t what = what_.what;
        const auto& out = from.of.source_counts;
        const auto& in = to.of.target_counts;
        if (what == UCG_COLL_BARRIER) return;
        if (reduces(what)) return add(from, source, to, target);
        const bool rooted = gathers(what) || scatters(what) || what == UCG_COLL_BCAST;
        if (rooted && (gathers(what) ? target : source) != what_.root) return;
        if (what_.in_place && source == target && what != UCG_COLL_BCAST) return;
        const bool each = scatters(what) || what == UCG_COLL_ALLTOALL || what == UCG_COLL_ALLTOALLV;
        const bool blocks = !scatters(what) && what != UCG_COLL_BCAST;
        std::uint64_t first = each ? begin_of(out, target) : 0;
        std::uint64_t count = each ? count_of(out, target) : from.of.count;
        if (what == UCG_COLL_BCAST) count = what_.count;
        const std::uint64_t place = blocks ? begin_of(in, source) : 0;
        // A block in place is given from where it belongs.
        if (from.of.given_in_target && blocks && !each)
            first = begin_of(from.of.target_counts, source);
        REQUIRE(place + count <= to.target.size());
        std::memcpy(to.target.data() + place, from.given() + first, count * sizeof(std::int32_t));
    }

    void add(const rank_memory& from, std::uint32_t source, rank_memory& to,
             std::uint32_t target) const {
        const ucg_coll_t what = what_.what;
        if (what == UCG_COLL_REDUCE && target != what_.root) return;
        if (what == UCG_COLL_SCAN && source > target) return;
        if (what == UCG_COLL_EXSCAN && source >= target) return;
        const bool scattered =
            what == UCG_COLL_REDUCE_SCATTER || what == UCG_COLL_REDUCE_SCATTER_BLOCK;
        const std::uint64_t first = scattered ? begin_of(to.of.target_counts, target) : 0;
        const std::uint64_t count = scattered ? count_of(to.of.target_counts, target) : what_.count;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::int32_t more = from.given()[first + i];
            to.target[i] = source == 0 ? more : to.target[i] + more;
        }
    }

    wanted_layout what_;
    std::uint32_t ranks_;
    std::vector<rank_memory> all_;
};

}  // namespace

TEST_CASE(
    "ucg_perf: every collective gives what the layout expects, and one wrong element is seen") {
    for (int what = 0; what < UCG_COLL_LAST; ++what) {
        for (const std::uint32_t ranks : {1U, 2U, 3U, 5U}) {
            for (const bool in_place : {false, true}) {
                const wanted_layout wanted{static_cast<ucg_coll_t>(what), 9, ranks - 1, in_place};
                INFO(ucg_coll_name(wanted.what) << " " << ranks << " ranks, in place " << in_place);
                const numbers by(type, UCG_OP_SUM, ranks);
                by_hand done(wanted, ranks);
                done.write(by);
                done.exchange();
                for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                    rank_memory& mine = done.all()[rank];
                    const content expected(mine.of, by, rank);
                    CHECK_FALSE(expected.wrong(mine.target.data(), round_number).has_value());
                    for (const block& each : mine.of.got) {
                        for (std::uint64_t i = 0; i < each.count; ++i) {
                            mine.target[each.at + i] ^= 1;
                            CHECK(expected.wrong(mine.target.data(), round_number).has_value());
                            mine.target[each.at + i] ^= 1;
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("ucg_perf: uneven blocks are as large as even ones together") {
    for (const ucg_coll_t what :
         {UCG_COLL_GATHERV, UCG_COLL_ALLGATHERV, UCG_COLL_ALLTOALLV, UCG_COLL_REDUCE_SCATTER}) {
        for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
            const wanted_layout wanted{what, 100, 0, false};
            const layout of = make_layout(wanted, 0, ranks);
            CHECK(sum(of.target_counts, ranks) == whole(wanted, ranks));
        }
    }
    // What two ranks have for each other is equal, or it could not be done in place.
    for (std::uint32_t one = 0; one < 5; ++one)
        for (std::uint32_t other = 0; other < 5; ++other)
            CHECK(make_layout({UCG_COLL_ALLTOALLV, 8, 0, true}, one, 5).target_counts[other] ==
                  make_layout({UCG_COLL_ALLTOALLV, 8, 0, true}, other, 5).target_counts[one]);
}

TEST_CASE("ucg_perf: writing anew changes every byte range that is given") {
    const numbers by(UCG_TYPE_FP32, UCG_OP_SUM, 2);
    const layout of = make_layout({UCG_COLL_ALLREDUCE, 5000, 0, false}, 1, 2);
    std::vector<float> source(5000, -1);
    content(of, by, 1).write_anew(source.data(), nullptr, 9);
    for (const float each : source)
        CHECK(each == 10);
    content(of, by, 1).write_anew(source.data(), nullptr, 10);
    CHECK(source.back() == 11);
}
