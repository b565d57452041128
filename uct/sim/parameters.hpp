// Parameters of a simulated network.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucs/time/clock.hpp"
#include "uct/api/iface.hpp"
#include "uct/api/types.hpp"

namespace uct::sim {

// Number of a simulated interface: 0 for the first one that was opened on the fabric, and so on.
using node_id = std::uint32_t;

inline constexpr std::uint32_t every_op =
    static_cast<std::uint32_t>(op::am_short) | static_cast<std::uint32_t>(op::am_bcopy) |
    static_cast<std::uint32_t>(op::am_zcopy) | static_cast<std::uint32_t>(op::get_zcopy) |
    static_cast<std::uint32_t>(op::put_zcopy);

inline constexpr std::uint32_t every_memory_op =
    static_cast<std::uint32_t>(op::get_zcopy) | static_cast<std::uint32_t>(op::put_zcopy) |
    static_cast<std::uint32_t>(op::get_bcopy) | static_cast<std::uint32_t>(op::put_bcopy) |
    static_cast<std::uint32_t>(op::put_short) | static_cast<std::uint32_t>(op::atomic);

// Parameters of interfaces with paired endpoints (paired_component) that differ from the general
// ones. By default these interfaces are the faster ones.
struct paired_parameters {
    ucs::time::nanoseconds min_latency = 200;
    ucs::time::nanoseconds max_latency = 900;
    double bandwidth = 20e9;              // bytes per second
    unsigned devices = 1;                 // resources "rnode", or "rnode0", "rnode1", ...
    op_mask memory_ops{every_memory_op};  // in addition to the message operations of all interfaces
    std::size_t max_put_short = 32;
    // Number and interval of the retransmissions of a message that its partner does not accept.
    unsigned retransmissions = 7;
    ucs::time::nanoseconds retransmission_time = 1'000'000;
    double creation_failure = 0;      // probability that creating an endpoint fails
    double dead_path = 0;             // probability that a pair of nodes loses everything
    double registration_failure = 0;  // probability that memory cannot be registered
    double registration_time = 0;     // predicted seconds of a registration, for each operation
    // As with a registration cache: memory that was shared once stays accessible with its key.
    bool keeps_registered = false;
};

// Times in virtual nanoseconds, sizes in bytes, probabilities from 0 to 1. The defaults are a
// well-behaved network with variable latency.
struct parameters {
    // Capabilities of the interfaces.
    op_mask ops{every_op};
    std::size_t max_short = 64;
    std::size_t max_bcopy = 8192;
    std::size_t max_zcopy = 65536;
    std::size_t max_zcopy_header = 128;
    std::size_t max_iov = 4;
    std::size_t max_rma = std::size_t{1} << 30U;
    scope reach = scope::network;
    bool supports_landing = false;  // receive through am_handler::locate
    std::size_t landing_piece = 0;  // longest piece that lands at once; 0: random pieces
    unsigned devices = 1;           // resources "node", or "node0", "node1", ...

    // Links. One endpoint is one link; its messages stay in order.
    ucs::time::nanoseconds min_latency = 500;
    ucs::time::nanoseconds max_latency = 2000;
    double bandwidth = 10e9;       // bytes per second
    double delay_probability = 0;  // probability that a message takes up to max_delay longer
    ucs::time::nanoseconds max_delay = 200'000;
    ucs::time::nanoseconds max_connect_time =
        0;  // operations before that return UCS_ERR_NO_RESOURCE

    // Back-pressure.
    unsigned tx_window = 16;  // operations in flight of one endpoint
    unsigned rx_queue = 256;  // messages that wait in one interface; further ones wait in the links
    double refusal = 0;       // probability of UCS_ERR_NO_RESOURCE without a reason
    unsigned progress_batch = 16;  // most events in one call of progress; the number is random

    // Local completions.
    ucs::time::nanoseconds max_completion_delay = 1000;
    double immediate_completion = 0;  // probability that a zcopy returns UCS_OK at once

    // Failures.
    double ep_failure = 0;   // probability that an operation makes its endpoint fail
    double rma_refused = 0;  // probability that a pair of nodes refuses get and put
    bool both_ways = true;   // a failed link also fails the link of the opposite direction
    ucs::time::nanoseconds detection_time =
        10'000;  // from a death to the failure of the peers' endpoints

    paired_parameters paired{};
};

}  // namespace uct::sim
