// Predicted times that several protocols share: data that flows through the transport, control
// messages, reading.
#pragma once

#include <algorithm>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Copy in and copy out, one after the other: the receiver waits for the whole message.
[[nodiscard]] inline double two_copies_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const double bytes = static_cast<double>(length);
    const double out = lanes.am->reach == uct::scope::host ? lanes.stream_rate
                                                           : lanes.costs->copy_bandwidth(length);
    return bytes / lanes.costs->copy_bandwidth(length) + bytes / out;
}

// What one control message of a rendezvous costs: wire, processor, tables.
[[nodiscard]] inline double control_seconds(const lane_set& lanes) noexcept {
    constexpr double handling = 60e-9;
    return lanes.am->latency + lanes.am->overhead + handling;
}

// Sender and receiver copy at the same time, one fragment apart: the time is that of one copy of
// everything (the slower of copying and the wire) plus one more fragment to fill the pipe.
[[nodiscard]] inline double pipeline_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const uct::iface_attr& am = *lanes.am;
    const double fragment = static_cast<double>(std::min(length, am.max_bcopy));
    const double bytes = static_cast<double>(length);
    // Inside a host the processors' exchange of cache lines is the limit, which is observed.
    const double copy = lanes.costs->copy_bandwidth(length);
    const double rate =
        std::min(copy, am.reach == uct::scope::network ? am.bandwidth : lanes.stream_rate);
    const double pieces = fragment > 0 ? bytes / fragment : 1;
    return am.latency + am.overhead * std::max(1.0, pieces) + fragment / rate + bytes / rate +
           2 * lanes.costs->copy_overhead * std::max(1.0, pieces);
}

// Reading so much of a peer's memory; over a network the request for it comes first. Needs
// lanes.rma.
[[nodiscard]] inline double read_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const bool single_copy = lanes.rma->reach == uct::scope::host;
    const double rate = single_copy ? lanes.costs->single_copy : lanes.rma_bandwidth();
    const double start = single_copy ? lanes.costs->single_copy_overhead : 2 * lanes.rma->latency;
    return start + static_cast<double>(length) / rate;
}

// Writing it to a peer's memory over a network. Needs lanes.rma.
[[nodiscard]] inline double write_seconds(const lane_set& lanes, std::size_t length) noexcept {
    return lanes.rma->latency + static_cast<double>(length) / lanes.rma_bandwidth();
}

// The same by way of the device's buffers, over one lane: while one is copied to, others leave.
[[nodiscard]] inline double write_copied_seconds(const lane_set& lanes,
                                                 std::size_t length) noexcept {
    const double bytes = static_cast<double>(length);
    const double piece = static_cast<double>(std::min(length, lanes.rma->max_put_bcopy));
    const double pieces = piece > 0 ? bytes / piece : 1;
    const double copy = lanes.costs->copy_bandwidth(length);
    return lanes.rma->latency + (lanes.rma->overhead + lanes.costs->copy_overhead) * pieces +
           piece / copy + bytes / std::min(lanes.rma->bandwidth, copy);
}

}  // namespace ucp
