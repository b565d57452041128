// Making a queue pair, of whichever type.
#pragma once

#include "ucs/type/result.hpp"
#include "uct/ib/base/domain.hpp"

namespace uct::ib {

// What is asked of the device. It gives less where its limits are lower.
struct pair_request {
    ibv_qp_type type;
    const char* title;  // for people: "queue pair"
    domain& on;
    ibv_cq& sends;
    ibv_cq& receives;
    ibv_srq& shared;
    std::uint32_t send_room;      // work requests
    std::uint32_t pieces;         // of one of them
    std::uint32_t inline_bytes;   // of data in one of them
    std::uint32_t fewest_pieces;  // that do where the device refuses so much inline data
};

// In state reset, with what the device gave: not more room for sends than was asked for.
struct raw_pair {
    pair_handle pair;
    ibv_qp_cap got;
};

// UCS_ERR_NO_MEMORY. Failures are logged.
[[nodiscard]] ucs::result<raw_pair> make_pair(const pair_request& wanted);

}  // namespace uct::ib
