// Trace of the last events of a simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "uct/sim/parameters.hpp"

namespace uct::sim {

enum class event_kind : std::uint8_t {
    opened,
    connected,
    posted,
    refused,
    arrived,
    held_back,
    delivered,
    landed_piece,
    dropped,
    remote_access,
    completed,
    flushed,
    ep_failed,
    ep_destroyed,
    node_left,
    node_died,
    woken,
    retransmitted,
    goodbye_arrived,
    node_cut,
};

struct trace_record {
    ucs::time::nanoseconds when = 0;
    event_kind kind = event_kind::woken;
    node_id from = 0;
    node_id to = 0;
    std::uint64_t link = 0;
    std::uint64_t detail = 0;  // length, serial number or status, depending on the kind
};

// Ring of the newest records, and a digest over all records, by which two runs are compared. Owned
// by the fabric.
class trace {
public:
    explicit trace(std::size_t capacity = 256) : ring_(capacity) {}

    void add(const trace_record& record) noexcept;

    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    // The stored records, oldest first, one per line.
    [[nodiscard]] std::string text() const;

private:
    std::vector<trace_record> ring_;
    std::uint64_t count_ = 0;
    std::uint64_t digest_ = 0xcbf29ce484222325ULL;
};

}  // namespace uct::sim
