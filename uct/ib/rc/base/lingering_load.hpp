// Limit of the work requests that connections of destroyed endpoints hold until their messages are
// sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace uct::rc {

// A peer that receives no messages would keep such connections for ever, and peers decide how many
// there are. Above these limits the connections that have waited longest are destroyed. Value type.
class lingering_load {
public:
    static constexpr std::size_t most_connections = 256;
    static constexpr std::uint32_t part_of_requests = 4;

    // `all`: the number of requests that may be outstanding on all connections of the interface.
    explicit lingering_load(std::uint32_t all) noexcept
        : most_requests_(std::max(all / part_of_requests, 2U)) {}

    void add(std::uint32_t requests) noexcept {
        ++connections_;
        requests_ += requests;
    }
    void remove(std::uint32_t requests) noexcept {
        --connections_;
        requests_ -= requests;
    }
    [[nodiscard]] bool is_excessive() const noexcept {
        return connections_ > most_connections || requests_ > most_requests_;
    }

private:
    const std::uint32_t most_requests_;
    std::size_t connections_ = 0;
    std::uint64_t requests_ = 0;
};

}  // namespace uct::rc
