#include "tools/ucg_perf/layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tools::ucg_perf {
namespace {

// Builds the layout of one rank. Each collective has a function that describes its input and output
// blocks.
class maker {
public:
    maker(const wanted_layout& wanted, std::uint32_t rank, std::uint32_t ranks)
        : wanted_(wanted), rank_(rank), ranks_(ranks), root_(wanted.root == rank) {}

    layout make() {
        made_.count = wanted_.count;
        made_.in_place = wanted_.in_place && wanted_.collective != UCG_COLL_BCAST &&
                         wanted_.collective != UCG_COLL_BARRIER;
        describe();
        return std::move(made_);
    }

private:
    // The size of the block to or from rank `which` in a v-form (gatherv and so on). The sum over
    // all ranks equals that of even blocks.
    [[nodiscard]] std::uint64_t uneven(std::uint32_t which) const noexcept {
        const std::uint32_t half = ranks_ / 2;
        const std::uint64_t quarter = wanted_.count / 4;
        const std::uint32_t place = which % ranks_;
        if (place < half) return wanted_.count + quarter;
        return place >= ranks_ - half ? wanted_.count - quarter : wanted_.count;
    }
    [[nodiscard]] std::vector<std::uint64_t> even_blocks() const {
        return std::vector<std::uint64_t>(ranks_, wanted_.count);
    }
    // Block sizes for ranks from `shift` on, so that two ranks have blocks of equal size for each
    // other.
    [[nodiscard]] std::vector<std::uint64_t> uneven_blocks(std::uint32_t shift) const {
        std::vector<std::uint64_t> made(ranks_);
        for (std::uint32_t i = 0; i < ranks_; ++i)
            made[i] = uneven(i + shift);
        return made;
    }
    static std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    }
    static std::uint64_t begin_of(const std::vector<std::uint64_t>& blocks, std::uint32_t which) {
        return std::accumulate(blocks.begin(), blocks.begin() + which, std::uint64_t{0});
    }

    void give(std::uint64_t count) {
        made_.given = {{0, count, rank_, 0, 0}};
        made_.source_elements = count;
    }
    void give_each(const std::vector<std::uint64_t>& counts) {
        std::uint64_t offset = 0;
        for (std::uint32_t i = 0; i < ranks_; ++i) {
            made_.given.push_back({offset, counts[i], rank_, i, 0});
            offset += counts[i];
        }
        made_.source_elements = offset;
    }
    // `target`: the rank that the sources wrote as the receiver of their blocks.
    void get_each(const std::vector<std::uint64_t>& counts, std::uint32_t target) {
        std::uint64_t offset = 0;
        for (std::uint32_t i = 0; i < ranks_; ++i) {
            made_.got.push_back({offset, counts[i], i, target, 0});
            offset += counts[i];
        }
        made_.target_elements = offset;
    }
    void get(const block& part) {
        made_.got = {part};
        made_.target_elements = part.count;
    }
    // Places the input of an in-place collective in the target, from element `offset` on.
    void move_input(std::uint64_t offset) {
        if (!made_.in_place) return;
        made_.input_in_target = true;
        for (block& each : made_.given)
            each.offset += offset;
        made_.target_elements = std::max(made_.target_elements, made_.source_elements);
        made_.source_elements = 0;
    }

    void describe() {
        switch (wanted_.collective) {
            case UCG_COLL_BCAST:
                return bcast();
            case UCG_COLL_REDUCE:
            case UCG_COLL_ALLREDUCE:
            case UCG_COLL_SCAN:
            case UCG_COLL_EXSCAN:
                return reduce();
            case UCG_COLL_REDUCE_SCATTER:
                made_.target_counts = uneven_blocks(0);
                return reduce_scatter(made_.target_counts);
            case UCG_COLL_REDUCE_SCATTER_BLOCK:
                return reduce_scatter(even_blocks());
            case UCG_COLL_GATHER:
                return gather(even_blocks());
            case UCG_COLL_GATHERV:
                made_.target_counts = uneven_blocks(0);
                made_.count = uneven(rank_);
                return gather(made_.target_counts);
            case UCG_COLL_SCATTER:
                return scatter(even_blocks());
            case UCG_COLL_SCATTERV:
                made_.source_counts = uneven_blocks(0);
                made_.count = uneven(rank_);
                return scatter(made_.source_counts);
            case UCG_COLL_ALLGATHER:
                return allgather(even_blocks());
            case UCG_COLL_ALLGATHERV:
                made_.target_counts = uneven_blocks(0);
                made_.count = uneven(rank_);
                return allgather(made_.target_counts);
            case UCG_COLL_ALLTOALL:
                return alltoall(even_blocks());
            case UCG_COLL_ALLTOALLV:
                made_.source_counts = made_.target_counts = uneven_blocks(rank_);
                return alltoall(made_.target_counts);
            default:
                made_.count = 0;
        }
    }
    void bcast() {
        if (root_) made_.given = {{0, wanted_.count, rank_, 0, 0}};
        made_.input_in_target = true;
        get({0, wanted_.count, wanted_.root, 0, 0});
    }
    void reduce() {
        give(wanted_.count);
        made_.reduces = true;
        const bool gets = wanted_.collective != UCG_COLL_REDUCE || root_;
        made_.reduced = wanted_.collective == UCG_COLL_SCAN     ? rank_ + 1
                        : wanted_.collective == UCG_COLL_EXSCAN ? rank_
                                                                : ranks_;
        if (gets) get({0, wanted_.count, 0, 0, 0});
        // The result of rank 0 of an exclusive scan is undefined.
        if (made_.reduced == 0) made_.got.clear();
        if (gets) move_input(0);
    }
    void reduce_scatter(const std::vector<std::uint64_t>& counts) {
        give(sum(counts));
        made_.reduces = true;
        made_.reduced = ranks_;
        get({0, counts[rank_], 0, 0, begin_of(counts, rank_)});
        move_input(0);
    }
    void gather(const std::vector<std::uint64_t>& counts) {
        give(counts[rank_]);
        if (!root_) return;
        get_each(counts, 0);
        move_input(begin_of(counts, rank_));
    }
    void scatter(const std::vector<std::uint64_t>& counts) {
        if (root_) give_each(counts);
        if (!root_ || !made_.in_place) get({0, counts[rank_], wanted_.root, rank_, 0});
    }
    void allgather(const std::vector<std::uint64_t>& counts) {
        give(counts[rank_]);
        get_each(counts, 0);
        move_input(begin_of(counts, rank_));
    }
    void alltoall(const std::vector<std::uint64_t>& counts) {
        give_each(counts);
        get_each(counts, rank_);
        move_input(0);
    }

    const wanted_layout& wanted_;
    const std::uint32_t rank_, ranks_;
    const bool root_;
    layout made_;
};

}  // namespace

layout make_layout(const wanted_layout& wanted, std::uint32_t rank, std::uint32_t ranks) {
    return maker(wanted, rank, ranks).make();
}

std::uint64_t total_elements(const wanted_layout& wanted, std::uint32_t ranks) noexcept {
    if (wanted.collective == UCG_COLL_BARRIER) return 0;
    return traits_of(wanted.collective).has_blocks() ? wanted.count * ranks : wanted.count;
}

double bus_factor(ucg_coll_t collective, std::uint32_t ranks) noexcept {
    if (!traits_of(collective).has_blocks() && collective != UCG_COLL_ALLREDUCE) return 1;
    const double others = static_cast<double>(ranks - 1) / ranks;
    return collective == UCG_COLL_ALLREDUCE ? 2 * others : others;
}

}  // namespace tools::ucg_perf
