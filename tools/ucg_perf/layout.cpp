#include "tools/ucg_perf/layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tools::ucg_perf {
namespace {

// Makes the layout of one rank: each collective says what it gives and gets.
class maker {
public:
    maker(const wanted_layout& of, std::uint32_t rank, std::uint32_t ranks)
        : of_(of), rank_(rank), ranks_(ranks), root_(of.root == rank) {}

    layout make() {
        made_.count = of_.count;
        made_.in_place = of_.in_place && of_.what != UCG_COLL_BCAST && of_.what != UCG_COLL_BARRIER;
        describe();
        return std::move(made_);
    }

private:
    // Of a v-form, the block for or from `which`. The sum over all is that of even blocks.
    [[nodiscard]] std::uint64_t uneven(std::uint32_t which) const noexcept {
        const std::uint32_t half = ranks_ / 2;
        const std::uint64_t quarter = of_.count / 4;
        const std::uint32_t place = which % ranks_;
        if (place < half) return of_.count + quarter;
        return place >= ranks_ - half ? of_.count - quarter : of_.count;
    }
    [[nodiscard]] std::vector<std::uint64_t> even_blocks() const {
        return std::vector<std::uint64_t>(ranks_, of_.count);
    }
    // From `shift` on, so that the blocks of two ranks for each other are equal.
    [[nodiscard]] std::vector<std::uint64_t> uneven_blocks(std::uint32_t shift) const {
        std::vector<std::uint64_t> made(ranks_);
        for (std::uint32_t i = 0; i < ranks_; ++i)
            made[i] = uneven(i + shift);
        return made;
    }
    static std::uint64_t sum(const std::vector<std::uint64_t>& of) {
        return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
    }
    static std::uint64_t begin_of(const std::vector<std::uint64_t>& blocks, std::uint32_t which) {
        return std::accumulate(blocks.begin(), blocks.begin() + which, std::uint64_t{0});
    }

    void give(std::uint64_t count) {
        made_.given = {{0, count, rank_, 0, 0}};
        made_.source_elements = count;
    }
    void give_each(const std::vector<std::uint64_t>& counts) {
        std::uint64_t at = 0;
        for (std::uint32_t i = 0; i < ranks_; ++i) {
            made_.given.push_back({at, counts[i], rank_, i, 0});
            at += counts[i];
        }
        made_.source_elements = at;
    }
    // `target`: what those who give had written there.
    void get_each(const std::vector<std::uint64_t>& counts, std::uint32_t target) {
        std::uint64_t at = 0;
        for (std::uint32_t i = 0; i < ranks_; ++i) {
            made_.got.push_back({at, counts[i], i, target, 0});
            at += counts[i];
        }
        made_.target_elements = at;
    }
    void get(const block& what) {
        made_.got = {what};
        made_.target_elements = what.count;
    }
    // The input is in the target from element `at` on.
    void move_input(std::uint64_t at) {
        if (!made_.in_place) return;
        made_.given_in_target = true;
        for (block& each : made_.given)
            each.at += at;
        made_.target_elements = std::max(made_.target_elements, made_.source_elements);
        made_.source_elements = 0;
    }

    void describe() {
        switch (of_.what) {
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
        if (root_) made_.given = {{0, of_.count, rank_, 0, 0}};
        made_.given_in_target = true;
        get({0, of_.count, of_.root, 0, 0});
    }
    void reduce() {
        give(of_.count);
        made_.reduces = true;
        const bool gets = of_.what != UCG_COLL_REDUCE || root_;
        made_.reduced = of_.what == UCG_COLL_SCAN     ? rank_ + 1
                        : of_.what == UCG_COLL_EXSCAN ? rank_
                                                      : ranks_;
        if (gets) get({0, of_.count, 0, 0, 0});
        // The first rank's result of an exclusive scan is not defined.
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
        if (!root_ || !made_.in_place) get({0, counts[rank_], of_.root, rank_, 0});
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

    const wanted_layout& of_;
    const std::uint32_t rank_, ranks_;
    const bool root_;
    layout made_;
};

bool has_blocks(ucg_coll_t what) noexcept {
    switch (what) {
        case UCG_COLL_BCAST:
        case UCG_COLL_REDUCE:
        case UCG_COLL_ALLREDUCE:
        case UCG_COLL_SCAN:
        case UCG_COLL_EXSCAN:
            return false;
        default:
            return true;
    }
}

}  // namespace

layout make_layout(const wanted_layout& of, std::uint32_t rank, std::uint32_t ranks) {
    return maker(of, rank, ranks).make();
}

std::uint64_t whole(const wanted_layout& of, std::uint32_t ranks) noexcept {
    if (of.what == UCG_COLL_BARRIER) return 0;
    return has_blocks(of.what) ? of.count * ranks : of.count;
}

double bus_factor(ucg_coll_t what, std::uint32_t ranks) noexcept {
    if (!has_blocks(what) && what != UCG_COLL_ALLREDUCE) return 1;
    const double others = static_cast<double>(ranks - 1) / ranks;
    return what == UCG_COLL_ALLREDUCE ? 2 * others : others;
}

}  // namespace tools::ucg_perf
