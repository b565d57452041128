// Predicted times that several protocols share: data that flows through the transport, control
// messages, reads of remote memory.
#pragma once

#include <algorithm>

#include "ucp/proto/protocol.hpp"

namespace ucp {

// Time to copy in and then copy out: the receiver waits for the whole message.
[[nodiscard]] inline double two_copies_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const double bytes = static_cast<double>(length);
    const double out = lanes.am->reach == uct::scope::host ? lanes.stream_rate
                                                           : lanes.costs->copy_bandwidth(length);
    return bytes / lanes.costs->copy_bandwidth(length) + bytes / out;
}

// Cost of one control message of a rendezvous: wire, processor, tables.
[[nodiscard]] inline double control_seconds(const lane_set& lanes) noexcept {
    constexpr double handling = 60e-9;
    return lanes.am->latency + lanes.am->overhead + handling;
}

// Sender and receiver copy at the same time, one fragment apart. The time is that of one copy of
// all data (at the slower of the copy rate and the wire rate), plus one fragment to fill the
// pipeline.
[[nodiscard]] inline double pipeline_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const uct::iface_attr& am = *lanes.am;
    const double fragment = static_cast<double>(std::min(length, am.max_bcopy));
    const double bytes = static_cast<double>(length);
    // Inside a host, the exchange of cache lines between processors limits the rate, which is
    // observed.
    const double copy = lanes.costs->copy_bandwidth(length);
    const double rate =
        std::min(copy, am.reach == uct::scope::network ? am.bandwidth : lanes.stream_rate);
    const double pieces = fragment > 0 ? bytes / fragment : 1;
    return am.latency + am.overhead * std::max(1.0, pieces) + fragment / rate + bytes / rate +
           2 * lanes.costs->copy_overhead * std::max(1.0, pieces);
}

// Time to read or write `length` bytes of memory of a peer's device. Needs lanes.device.
[[nodiscard]] inline double device_seconds(const lane_set& lanes, std::size_t length) noexcept {
    return lanes.device->latency + static_cast<double>(length) / lanes.device->bandwidth;
}

// Time by which a pipeline gets longer at each end whose data is on a device: the first or last
// part is copied while nothing else happens.
[[nodiscard]] inline double staging_seconds(const lane_set& lanes, std::size_t length) noexcept {
    if (lanes.device_copy == nullptr) return 0;
    const double part = static_cast<double>(std::min(length, lanes.options->fragment.size.bytes));
    return lanes.device_copy->latency + part / lanes.device_copy->bandwidth;
}

// Time to read `length` bytes of a peer's memory. Over a network a request comes first. Needs
// lanes.rma.
[[nodiscard]] inline double read_seconds(const lane_set& lanes, std::size_t length) noexcept {
    const bool single_copy = lanes.rma->reach == uct::scope::host;
    const double rate = single_copy ? lanes.costs->single_copy : lanes.rma_bandwidth();
    const double start = single_copy ? lanes.costs->single_copy_overhead : 2 * lanes.rma->latency;
    return start + static_cast<double>(length) / rate;
}

// Time to write `length` bytes to a peer's memory over a network. Needs lanes.rma.
[[nodiscard]] inline double write_seconds(const lane_set& lanes, std::size_t length) noexcept {
    return lanes.rma->latency + static_cast<double>(length) / lanes.rma_bandwidth();
}

// Like write_seconds, through the device's buffers and over one lane: data is copied into one
// buffer while others are sent.
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
