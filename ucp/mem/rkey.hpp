// A peer's key to memory of its own, as the program holds it.
#pragma once

#include <array>
#include <memory>

#include "ucp/mem/memory_table.hpp"
#include "ucp/mem/reached.hpp"

namespace ucp::mem {

// What ucp_ep_rkey_unpack makes: who owns the memory, and where it is mapped here, if it is. Owned
// by the program; immutable, any thread.
class rkey {
public:
    rkey(const key& of, memory_table::window window) noexcept
        : base_(of.base),
          length_(of.length),
          owner_(of.owner),
          allowed_(of.allowed),
          local_(window.base),
          keeper_(std::move(window.keeper)) {
        if (local_ == nullptr) return;
        if ((allowed_ & may_read) != 0) readable_ = length_;
        if ((allowed_ & may_write) != 0) writable_ = length_;
    }

    // Where remote memory can be read or written by loads and stores; nullptr: not there, not
    // allowed, or not mapped. `check` tells which.
    [[nodiscard]] std::byte* readable(std::uint64_t at, std::size_t length) const noexcept {
        return within(base_, readable_, at, length) ? local_ + (at - base_) : nullptr;
    }
    [[nodiscard]] std::byte* writable(std::uint64_t at, std::size_t length) const noexcept {
        return within(base_, writable_, at, length) ? local_ + (at - base_) : nullptr;
    }
    // For atomics, which do both.
    [[nodiscard]] std::byte* changeable(std::uint64_t at, std::size_t length) const noexcept {
        return allowed_ == all_access ? writable(at, length) : nullptr;
    }

    // UCS_OK, UCS_ERR_INVALID_ADDR (outside the memory) or UCS_ERR_REJECTED (not allowed).
    [[nodiscard]] ucs_status_t check(std::uint64_t at, std::size_t length,
                                     std::uint8_t wanted) const noexcept {
        if (!within(base_, length_, at, length)) return UCS_ERR_INVALID_ADDR;
        return (allowed_ & wanted) == wanted ? UCS_OK : UCS_ERR_REJECTED;
    }

    [[nodiscard]] bool is_mapped() const noexcept { return local_ != nullptr; }
    [[nodiscard]] std::byte* pointer(std::uint64_t at) const noexcept {
        return local_ + (at - base_);
    }
    [[nodiscard]] bool contains(std::uint64_t at) const noexcept {
        return within(base_, length_, at, 1);
    }
    [[nodiscard]] const credentials& owner() const noexcept { return owner_; }

    // The memory over lanes to that device of its owner's; nullptr: not to be reached by them.
    [[nodiscard]] const uct::remote_memory* on(std::uint8_t device) const noexcept {
        return devices_ == nullptr ? nullptr : devices_->on(device);
    }
    // nullptr: no device reaches it.
    [[nodiscard]] const reached_memory* devices() const noexcept { return devices_.get(); }
    // Before anybody else has it.
    void add(std::uint8_t device, std::unique_ptr<uct::remote_memory> memory) {
        if (devices_ == nullptr) devices_ = std::make_unique<reached_memory>();
        devices_->add(device, std::move(memory));
    }

    // Negative, 0 or positive; 0: either serves in place of the other.
    [[nodiscard]] int compare(const rkey& other) const noexcept;

private:
    std::uint64_t base_;
    std::uint64_t length_;
    std::uint64_t readable_ = 0;  // bytes from base_ on that can be loaded
    std::uint64_t writable_ = 0;
    credentials owner_;
    std::uint8_t allowed_;
    std::byte* local_;
    memory::block_pointer keeper_;
    std::unique_ptr<reached_memory> devices_;  // nullptr: none
};

// Programs keep one per peer and piece of memory.
static_assert(sizeof(rkey) <= 88);

}  // namespace ucp::mem
