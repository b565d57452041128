// A collective on all ranks of a simulated machine, with data and a plain reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ucg/schedule/algorithm.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/sim/network.hpp"

namespace test {

// The operator of a scenario on 64-bit elements. `affine` composes maps x -> a x + b over 32 bits,
// which is associative and not commutative.
enum class operators { sum, average, affine };

// Sizes with which few elements make many segments and several leaders.
[[nodiscard]] inline ucg::schedule::tuning small_sizes() noexcept {
    ucg::schedule::tuning made;
    made.segment = 64;
    made.leader_bytes = 16;
    return made;
}

struct scenario {
    ucg::schedule::collective kind = ucg::schedule::collective::barrier;
    ucg::schedule::rank_t ranks = 2;
    ucg::schedule::rank_t ranks_per_node = 1;
    std::vector<std::uint64_t>
        nodes;  // names of the ranks' nodes; empty: ranks_per_node on each node
    std::uint64_t count = 1;
    ucg::schedule::rank_t root = 0;
    bool in_place = false;
    operators op = operators::sum;
    std::uint64_t seed = 0;  // 0: no random delays
    ucg::schedule::tuning sizes = small_sizes();
    unsigned starts = 1;
};

[[nodiscard]] std::string text(const scenario& setup);

// Buffers and expected result of one rank.
struct rank_data {
    std::vector<std::uint64_t> input;  // in the order of its buffer
    std::vector<std::uint64_t> from, into, expected;
    std::vector<bool> matters;  // elements of `into` that are compared
    std::vector<std::uint64_t> counts, offsets, out_counts, out_offsets;
};

// The filled buffers of all ranks, and their expected content after the collective.
class reference {
public:
    explicit reference(const scenario& setup);

    [[nodiscard]] ucg::schedule::call call_of(ucg::schedule::rank_t rank);
    void refill();  // restores the initial content
    // Returns a description of the first wrong result, or an empty string.
    [[nodiscard]] std::string wrong() const;
    [[nodiscard]] std::string wrong_at(ucg::schedule::rank_t rank) const;

private:
    using rank_t = ucg::schedule::rank_t;
    [[nodiscard]] bool in_place_at(rank_t rank) const;
    [[nodiscard]] std::uint64_t block(rank_t from, rank_t to) const;
    void describe_blocks();
    void make_input();
    void make_expected();
    void expect_reduction(rank_t rank, rank_t first, rank_t last, std::size_t begin,
                          std::size_t count);
    void expect(rank_t rank, std::size_t offset, rank_t source, std::size_t begin,
                std::size_t count);

    scenario setup_;
    std::vector<rank_data> ranks_;
    std::unique_ptr<ucg::schedule::reducer> op_;
};

[[nodiscard]] ucg::sim::machine machine_of(const scenario& setup);

// Runs the scenario. Returns an empty string if all ranks succeed with the right result in every
// start, otherwise a description of the error.
[[nodiscard]] std::string run(const scenario& setup, const ucg::schedule::algorithm& algorithm);

}  // namespace test
