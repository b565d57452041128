// Creation of queue pairs of all types.
#pragma once

#include "ucs/type/result.hpp"
#include "uct/ib/base/memory/domain.hpp"

namespace uct::ib {

// Requested properties. If the limits of the device are lower, it provides less.
struct pair_request {
    ibv_qp_type type;
    const char* title;  // for log lines: "queue pair"
    domain& on;
    ibv_cq& sends;
    ibv_cq& receives;
    ibv_srq& shared;
    std::uint32_t send_room;      // work requests
    std::uint32_t pieces;         // of one of them
    std::uint32_t inline_bytes;   // of data in one of them
    std::uint32_t fewest_pieces;  // sufficient if the device refuses so much inline data
};

// A queue pair in state reset, with the properties that the device provided. Its send queue counts
// no more entries than requested.
struct raw_pair {
    pair_handle pair;
    ibv_qp_cap got;
};

// UCS_ERR_NO_MEMORY. Failures are logged.
[[nodiscard]] ucs::result<raw_pair> make_pair(const pair_request& wanted);

}  // namespace uct::ib
