// Remote key: a peer's memory, as the program holds it.
#pragma once

#include <array>
#include <memory>
#include <tuple>

#include "ucp/mem/access_path.hpp"
#include "ucp/mem/memory_table.hpp"

namespace ucp::mem {

// Made by ucp_ep_rkey_unpack: identifies the memory, and its address here if it is mapped. Owned by
// the program; immutable, any thread.
class rkey {
public:
    rkey(const key& remote, memory_table::window window) noexcept
        : base_(remote.base),
          length_(remote.length),
          owner_(remote.owner),
          allowed_(remote.allowed),
          on_device_(remote.on_device),
          local_(window.base),
          keeper_(std::move(window.keeper)) {
        if (local_ == nullptr) return;
        if ((allowed_ & may_read) != 0) readable_ = length_;
        if ((allowed_ & may_write) != 0) writable_ = length_;
    }

    // Return the local address of remote memory for loads or stores. nullptr: outside of the
    // memory, not allowed, or not mapped; `check` tells which.
    [[nodiscard]] std::byte* readable(std::uint64_t address, std::size_t length) const noexcept {
        return within(base_, readable_, address, length) ? local_ + (address - base_) : nullptr;
    }
    [[nodiscard]] std::byte* writable(std::uint64_t address, std::size_t length) const noexcept {
        return within(base_, writable_, address, length) ? local_ + (address - base_) : nullptr;
    }
    // For atomics, which read and write.
    [[nodiscard]] std::byte* changeable(std::uint64_t address, std::size_t length) const noexcept {
        return allowed_ == all_access ? writable(address, length) : nullptr;
    }

    // UCS_OK, UCS_ERR_INVALID_ADDR (outside the memory) or UCS_ERR_REJECTED (not allowed).
    [[nodiscard]] ucs_status_t check(std::uint64_t address, std::size_t length,
                                     std::uint8_t wanted) const noexcept {
        if (!within(base_, length_, address, length)) return UCS_ERR_INVALID_ADDR;
        return (allowed_ & wanted) == wanted ? UCS_OK : UCS_ERR_REJECTED;
    }

    // Returns true if no processor may access the memory.
    [[nodiscard]] bool is_on_device() const noexcept { return on_device_; }
    [[nodiscard]] bool is_mapped() const noexcept { return local_ != nullptr; }
    [[nodiscard]] std::byte* pointer(std::uint64_t address) const noexcept {
        return local_ + (address - base_);
    }
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return within(base_, length_, address, 1);
    }
    [[nodiscard]] const credentials& owner() const noexcept { return owner_; }

    // Returns the memory as reached by lanes to that device, or nullptr if they cannot reach it.
    [[nodiscard]] const uct::remote_memory* key_for(std::uint8_t device) const noexcept {
        return devices_ == nullptr ? nullptr : devices_->key_for(device);
    }
    // Returns nullptr if no device reaches the memory.
    [[nodiscard]] const access_path* devices() const noexcept { return devices_.get(); }
    // Call only before the key is given out.
    void add(std::uint8_t device, std::unique_ptr<uct::remote_memory> memory) {
        if (devices_ == nullptr) devices_ = std::make_unique<access_path>();
        devices_->add(device, std::move(memory));
    }

    // Returns a negative number, 0 or a positive number. If it is 0, the keys are interchangeable.
    [[nodiscard]] int compare(const rkey& other) const noexcept {
        const auto all = [](const rkey& key) {
            return std::make_tuple(key.owner_.id, key.owner_.secret, key.base_, key.length_,
                                   key.allowed_);
        };
        const auto order = all(*this) <=> all(other);
        return order < 0 ? -1 : (order > 0 ? 1 : 0);
    }

private:
    std::uint64_t base_;
    std::uint64_t length_;
    std::uint64_t readable_ = 0;  // bytes from base_ on that can be loaded
    std::uint64_t writable_ = 0;
    credentials owner_;
    std::uint8_t allowed_;
    bool on_device_;
    std::byte* local_;
    memory::block_pointer keeper_;
    std::unique_ptr<access_path> devices_;  // nullptr: none
};

// Programs keep one key per peer and memory, so the size matters.
static_assert(sizeof(rkey) <= 88);

}  // namespace ucp::mem
