// Random choices of a run: the network's parameters and the options of ucp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ucs/random/seeded.hpp"
#include "uct/sim/parameters.hpp"

namespace sim_test {

// Option names have no prefix UCX_.
using options = std::vector<std::pair<std::string, std::string>>;

template<class Value, std::size_t Count>
Value one_of(ucs::sys::random& dice, const Value (&values)[Count]) {
    return values[dice.below(Count)];
}

void choose_network(ucs::sys::random& dice, uct::sim::parameters& network);

[[nodiscard]] options choose_options(ucs::sys::random& dice);

// Chooses the parameters of a second transport, whose endpoints come in pairs, and adds options to
// `list`. Returns the probability that a process has this transport.
[[nodiscard]] double choose_pairs(ucs::sys::random& dice, uct::sim::parameters& network,
                                  options& list);

}  // namespace sim_test
