// How tokens travel, apart from where to.
#pragma once

#include <cstdint>

#include "ucg/moe/cost.hpp"

namespace ucg::moe {

enum class route : std::uint8_t {
    choose,   // for each node by predicted cost
    direct,   // one copy over the network for each rank that gets the token
    relayed,  // one for each node, wherever several ranks of it could get any
};

// `channels` and `all_counts` must be the same on every rank; the others may differ.
struct settings {
    static constexpr std::uint32_t most_channels = 1024;

    std::uint32_t channels = 8;   // pieces that a rank's tokens are cut into
    std::uint32_t shortest = 32;  // tokens of a channel, where others follow
    route how = route::choose;
    double token_bytes = 8192;  // expected, for the choice
    link_costs costs;
    bool all_counts = false;  // every rank learns how much goes from any rank to any other
    bool holders = false;     // and which ranks of its node have the rows that it receives as well
};

}  // namespace ucg::moe
