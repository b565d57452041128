// Settings of notify: channels, route and optional contents of the plan.
#pragma once

#include <cstdint>

#include "ucg/moe/cost.hpp"

namespace ucg::moe {

enum class route : std::uint8_t {
    choose,   // the sender takes the cheaper route to each node by predicted time
    direct,   // one copy over the network for each rank that gets the token
    relayed,  // one copy for each node that has several living ranks
};

// `channels` and `all_counts` must be the same on every rank. The other settings may differ.
struct settings {
    static constexpr std::uint32_t max_channels = 1024;

    std::uint32_t channels = 8;  // a rank's tokens are cut into so many channels
    std::uint32_t min_channel_tokens =
        32;  // minimum length, in tokens, of all channels but the last one
    route routing = route::choose;
    double token_bytes = 8192;  // expected size, for the choice of the route
    link_costs costs;
    bool all_counts = false;  // the plan gets the token counts of all pairs of ranks
    bool holders = false;     // the plan records which local ranks receive the same rows
};

}  // namespace ucg::moe
