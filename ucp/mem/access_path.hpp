// Access path to a peer's memory, by the keys of its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "uct/api/memory.hpp"

namespace ucp::mem {

// Holds one key for each of the owner's devices that reaches the memory. Filled by its creator,
// then immutable.
class access_path {
public:
    // Returns the memory as reached by lanes to that device, or nullptr if they cannot reach it.
    [[nodiscard]] const uct::remote_memory* key_for(std::uint8_t device) const noexcept {
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

// Returns true if an operation failed with this status because the device cannot access our own
// memory: the limit of locked memory is reached, or the device may not access these pages. Messages
// then move the data, because they copy it. If the lane itself failed, they fail with the same
// status.
[[nodiscard]] constexpr bool is_out_of_devices_reach(ucs_status_t status) noexcept {
    return status == UCS_ERR_NO_MEMORY || status == UCS_ERR_INVALID_ADDR;
}

}  // namespace ucp::mem
