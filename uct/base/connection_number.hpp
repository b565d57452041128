// Numbers by which the layer above identifies the connections of all interfaces.
#pragma once

#include <atomic>
#include <cstdint>

namespace uct {

// Returns a number that no connection of this process has had, never 0. Any thread.
[[nodiscard]] inline std::uint64_t next_connection_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace uct
