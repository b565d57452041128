// Registered memory, as ucp_mem_map makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ucp/mem/device_domains.hpp"
#include "ucp/mem/key.hpp"
#include "ucs/cuda/allocation.hpp"

namespace ucp::mem {

// The program's own memory, memory that the library allocated, or imported memory of another
// process. Owned by the memory_table of its context. Immutable; any thread.
class memory {
public:
    using block_pointer = std::shared_ptr<const uct::sm::shared_block>;

    memory(void* base, std::size_t length, std::uint8_t allowed, block_pointer block,
           ucs_memory_type_t type = UCS_MEMORY_TYPE_HOST) noexcept
        : base_(static_cast<std::byte*>(base)),
          length_(length),
          allowed_(allowed),
          type_(type),
          block_(std::move(block)) {}
    // Memory of a device that the library has allocated.
    memory(std::unique_ptr<ucs::cuda::allocation> owned, std::size_t length, std::uint8_t allowed,
           ucs_memory_type_t type) noexcept
        : memory(owned->base(), length, allowed, nullptr, type) {
        owned_ = std::move(owned);
    }

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t address() const noexcept {
        return reinterpret_cast<std::uint64_t>(base_);
    }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] std::uint8_t allowed() const noexcept { return allowed_; }
    [[nodiscard]] ucs_memory_type_t type() const noexcept { return type_; }
    // Returns true if the processor must not access it.
    [[nodiscard]] bool is_on_device() const noexcept { return type_ != UCS_MEMORY_TYPE_HOST; }
    [[nodiscard]] const credentials& owner() const noexcept { return owner_; }
    [[nodiscard]] const block_pointer& block() const noexcept { return block_; }

    [[nodiscard]] bool covers(const void* start, std::size_t length) const noexcept {
        return within(address(), length_, reinterpret_cast<std::uint64_t>(start), length);
    }

    // Returns the key for peers in plain form.
    [[nodiscard]] key to_key() const {
        key made{.owner = owner_,
                 .base = address(),
                 .length = length_,
                 .allowed = allowed_,
                 .exported = false,
                 .on_device = is_on_device(),
                 .block = {},
                 .devices = {}};
        if (block_ != nullptr) made.block = block_->name();
        for (const device_memory& each : on_devices_)
            made.devices.push_back({each.device, each.shared.key});
        return made;
    }

    // Returns true if the key names this memory. Device keys are not compared.
    [[nodiscard]] bool is_named_by(const key& candidate) const {
        return owner_ == candidate.owner && address() == candidate.base &&
               length_ == candidate.length && allowed_ == candidate.allowed &&
               candidate.block == (block_ == nullptr ? uct::sm::block_name{} : block_->name());
    }

private:
    friend class memory_table;
    std::byte* base_;
    std::size_t length_;
    credentials owner_;
    std::uint8_t allowed_;
    ucs_memory_type_t type_;
    block_pointer block_;  // nullptr: not memory of the host, or the program's own memory
    std::unique_ptr<ucs::cuda::allocation> owned_;  // nullptr: not allocated on a device
    std::vector<device_memory> on_devices_;
};

}  // namespace ucp::mem
