// Tests that layouts and contents agree: a collective that the test performs between ranks of one
// process gives the expected output, and any change of one element is detected.
#include "tools/ucg_perf/content.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <vector>

using namespace tools::ucg_perf;

namespace {

constexpr ucg_type_t type = UCG_TYPE_INT32;
constexpr std::uint64_t round_number = 7;

bool reduces(ucg_coll_t collective) {
    switch (collective) {
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
    layout rank_layout;
    std::vector<std::int32_t> source, target;

    [[nodiscard]] const std::int32_t* input() const {
        return rank_layout.input_in_target ? target.data() : source.data();
    }
};

std::uint64_t sum(const std::vector<std::uint64_t>& counts, std::uint32_t rank_count) {
    return std::accumulate(counts.begin(), counts.begin() + rank_count, std::uint64_t{0});
}

// Performs the collective element by element, as the documentation of ucg_coll_args_t describes it.
class manual_exchange {
public:
    manual_exchange(const wanted_layout& wanted, std::uint32_t ranks)
        : wanted_(wanted), ranks_(ranks) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            layout rank_layout = make_layout(wanted, rank, ranks);
            std::vector<std::int32_t> source(rank_layout.source_elements),
                target(rank_layout.target_elements);
            all_.push_back({std::move(rank_layout), std::move(source), std::move(target)});
        }
    }

    void write(const numbers& values) {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank)
            content(all_[rank].rank_layout, values, rank)
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
    static bool gathers(ucg_coll_t collective) {
        return collective == UCG_COLL_GATHER || collective == UCG_COLL_GATHERV;
    }
    static bool scatters(ucg_coll_t collective) {
        return collective == UCG_COLL_SCATTER || collective == UCG_COLL_SCATTERV;
    }
    [[nodiscard]] std::uint64_t count_of(const std::vector<std::uint64_t>& counts,
                                         std::uint32_t which) const {
        return counts.empty() ? wanted_.count : counts[which];
    }
    [[nodiscard]] std::uint64_t begin_of(const std::vector<std::uint64_t>& counts,
                                         std::uint32_t which) const {
        return counts.empty() ? wanted_.count * which : sum(counts, which);
    }

    void move(const rank_memory& from, std::uint32_t source, rank_memory& to,
              std::uint32_t target) const {
        const ucg_coll_t collective = wanted_.collective;
        const auto& out = from.rank_layout.source_counts;
        const auto& in = to.rank_layout.target_counts;
        if (collective == UCG_COLL_BARRIER) return;
        if (reduces(collective)) return add(from, source, to, target);
        const bool rooted =
            gathers(collective) || scatters(collective) || collective == UCG_COLL_BCAST;
        if (rooted && (gathers(collective) ? target : source) != wanted_.root) return;
        if (wanted_.in_place && source == target && collective != UCG_COLL_BCAST) return;
        const bool each = scatters(collective) || collective == UCG_COLL_ALLTOALL ||
                          collective == UCG_COLL_ALLTOALLV;
        const bool blocks = !scatters(collective) && collective != UCG_COLL_BCAST;
        std::uint64_t first = each ? begin_of(out, target) : 0;
        std::uint64_t count = each ? count_of(out, target) : from.rank_layout.count;
        if (collective == UCG_COLL_BCAST) count = wanted_.count;
        const std::uint64_t place = blocks ? begin_of(in, source) : 0;
        // An in-place block is sent from its place in the target.
        if (from.rank_layout.input_in_target && blocks && !each)
            first = begin_of(from.rank_layout.target_counts, source);
        REQUIRE(place + count <= to.target.size());
        std::memcpy(to.target.data() + place, from.input() + first, count * sizeof(std::int32_t));
    }

    void add(const rank_memory& from, std::uint32_t source, rank_memory& to,
             std::uint32_t target) const {
        const ucg_coll_t collective = wanted_.collective;
        if (collective == UCG_COLL_REDUCE && target != wanted_.root) return;
        if (collective == UCG_COLL_SCAN && source > target) return;
        if (collective == UCG_COLL_EXSCAN && source >= target) return;
        const bool scattered =
            collective == UCG_COLL_REDUCE_SCATTER || collective == UCG_COLL_REDUCE_SCATTER_BLOCK;
        const std::uint64_t first = scattered ? begin_of(to.rank_layout.target_counts, target) : 0;
        const std::uint64_t count =
            scattered ? count_of(to.rank_layout.target_counts, target) : wanted_.count;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::int32_t more = from.input()[first + i];
            to.target[i] = source == 0 ? more : to.target[i] + more;
        }
    }

    wanted_layout wanted_;
    std::uint32_t ranks_;
    std::vector<rank_memory> all_;
};

}  // namespace

TEST_CASE(
    "ucg_perf: every collective gives the output of its layout, and one wrong element is "
    "detected") {
    for (int collective = 0; collective < UCG_COLL_LAST; ++collective) {
        for (const std::uint32_t ranks : {1U, 2U, 3U, 5U}) {
            for (const bool in_place : {false, true}) {
                const wanted_layout wanted{static_cast<ucg_coll_t>(collective), 9, ranks - 1,
                                           in_place};
                INFO(ucg_coll_name(wanted.collective)
                     << " " << ranks << " ranks, in place " << in_place);
                const numbers values(type, UCG_OP_SUM, ranks);
                manual_exchange done(wanted, ranks);
                done.write(values);
                done.exchange();
                for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                    rank_memory& memory = done.all()[rank];
                    const content expected(memory.rank_layout, values, rank);
                    CHECK_FALSE(
                        expected.find_error(memory.target.data(), round_number).has_value());
                    for (const block& each : memory.rank_layout.got) {
                        for (std::uint64_t i = 0; i < each.count; ++i) {
                            memory.target[each.offset + i] ^= 1;
                            CHECK(expected.find_error(memory.target.data(), round_number)
                                      .has_value());
                            memory.target[each.offset + i] ^= 1;
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("ucg_perf: uneven blocks have the same total size as even blocks") {
    for (const ucg_coll_t collective :
         {UCG_COLL_GATHERV, UCG_COLL_ALLGATHERV, UCG_COLL_ALLTOALLV, UCG_COLL_REDUCE_SCATTER}) {
        for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
            const wanted_layout wanted{collective, 100, 0, false};
            const layout rank_layout = make_layout(wanted, 0, ranks);
            CHECK(sum(rank_layout.target_counts, ranks) == total_elements(wanted, ranks));
        }
    }
    // Two ranks have blocks of equal size for each other, or the collective could not run in place.
    for (std::uint32_t one = 0; one < 5; ++one)
        for (std::uint32_t other = 0; other < 5; ++other)
            CHECK(make_layout({UCG_COLL_ALLTOALLV, 8, 0, true}, one, 5).target_counts[other] ==
                  make_layout({UCG_COLL_ALLTOALLV, 8, 0, true}, other, 5).target_counts[one]);
}

TEST_CASE("ucg_perf: write_uniform() writes every input block") {
    const numbers values(UCG_TYPE_FP32, UCG_OP_SUM, 2);
    const layout rank_layout = make_layout({UCG_COLL_ALLREDUCE, 5000, 0, false}, 1, 2);
    std::vector<float> source(5000, -1);
    content(rank_layout, values, 1).write_uniform(source.data(), nullptr, 9);
    for (const float each : source)
        CHECK(each == 10);
    content(rank_layout, values, 1).write_uniform(source.data(), nullptr, 10);
    CHECK(source.back() == 11);
}
