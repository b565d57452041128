// A collective on all ranks of a simulated machine, with data and a plain reference.
#pragma once

#include <cstdint>
#include <deque>

#include "test/support/collective_memory.hpp"
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
        nodes{};  // names of the ranks' nodes; empty: ranks_per_node on each node
    std::uint64_t count = 1;
    ucg::schedule::rank_t root = 0;
    bool in_place = false;
    operators op = operators::sum;
    std::uint64_t seed = 0;  // 0: no random delays
    ucg::schedule::tuning sizes = small_sizes();
    unsigned starts = 1;
};

[[nodiscard]] std::string text(const scenario& setup);

// The filled buffers of all ranks, and their expected content after the collective.
class reference {
public:
    explicit reference(const scenario& setup);

    [[nodiscard]] ucg::schedule::call call_of(ucg::schedule::rank_t rank) const;
    void refill();  // restores the initial content
    // Returns a description of the first wrong result, or an empty string.
    [[nodiscard]] std::string wrong() const;
    [[nodiscard]] std::string wrong_at(ucg::schedule::rank_t rank) const;

private:
    scenario setup_;
    std::deque<collective_memory> ranks_;
    ucg::reference::word_operator affine_;
    std::unique_ptr<ucg::schedule::reducer> op_;
};

[[nodiscard]] ucg::sim::machine machine_of(const scenario& setup);

// Runs the scenario. Returns an empty string if all ranks succeed with the right result in every
// start, otherwise a description of the error.
[[nodiscard]] std::string run(const scenario& setup, const ucg::schedule::algorithm& algorithm);
// Returns whether the algorithm can run the scenario.
[[nodiscard]] bool fits(const scenario& setup, const ucg::schedule::algorithm& algorithm);

// Calls with(setup, seed) for the scenario in place or not, with each operator and three seeds.
template<class With>
void for_each_variant(scenario setup, const With& with) {
    const ucg::schedule::traits kind = traits_of(setup.kind);
    for (const bool in_place : {false, true}) {
        for (const operators op : {operators::sum, operators::average, operators::affine}) {
            if (op != operators::sum && !kind.reduces) continue;
            // A scan has no average, because the number of reduced ranks differs.
            if (op == operators::average && kind.scans) continue;
            if (in_place && !kind.has_two_buffers) continue;
            setup.in_place = in_place;
            setup.op = op;
            for (const std::uint64_t seed : {0U, 1U, 2U}) {
                setup.seed = seed == 0 ? 0 : seed + setup.ranks * 10 + setup.count;
                setup.starts = seed == 1 ? 2 : 1;
                with(setup, seed);
            }
        }
    }
}

}  // namespace test
