// A peer's memory, as it is reached by the keys of its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "uct/api/memory.hpp"

namespace ucp::mem {

// One key for each device of its owner's that reaches it. Filled by its maker, then immutable.
class reached_memory {
public:
    // The memory over lanes to that device; nullptr: not to be reached by them.
    [[nodiscard]] const uct::remote_memory* on(std::uint8_t device) const noexcept {
        for (const part& each : parts_) {
            if (each.device == device) return each.memory.get();
        }
        return nullptr;
    }
    void add(std::uint8_t device, std::unique_ptr<uct::remote_memory> memory) {
        parts_.push_back({device, std::move(memory)});
    }

private:
    struct part {
        std::uint8_t device;
        std::unique_ptr<uct::remote_memory> memory;
    };
    std::vector<part> parts_;
};

// Whether an operation ended with this because the device cannot work with our own memory: the
// limit of locked memory is reached, or no device may touch these pages. It is moved by messages
// then, which copy; where the lane itself has failed they fail with the same.
[[nodiscard]] constexpr bool is_out_of_devices_reach(ucs_status_t status) noexcept {
    return status == UCS_ERR_NO_MEMORY || status == UCS_ERR_INVALID_ADDR;
}

}  // namespace ucp::mem
