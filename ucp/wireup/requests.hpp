// The connection requests of a worker.
#pragma once

#include <memory>

#include "ucp/core/slots.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/repeater.hpp"
#include "ucp/wireup/request_order.hpp"

namespace ucp::wireup {

// Slot of a worker.
struct requests {
    explicit requests(worker& owner) noexcept : repeater(owner) {}

    request_order order;
    request_repeater repeater;
    std::uint64_t apart_numbers = 0;  // given to the ends of private connections
    // Postponed by the peer object that is being destroyed.
    std::unique_ptr<postponed_request> postponed{};
};

}  // namespace ucp::wireup
