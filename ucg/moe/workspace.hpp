// One allocation that holds all message buffers of an exchange.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "ucs/type/status.h"

namespace ucg::moe {

// The exchange first calls take() for each buffer, then allocate() once. at() is valid afterwards.
class workspace {
public:
    using place = std::size_t;
    // Two equal buffers: the exchange works on one while the other one is in flight.
    using pair = std::array<place, 2>;

    [[nodiscard]] place take(std::size_t bytes) noexcept {
        const place taken = size_;
        const std::size_t most = ~std::size_t{0} - alignment;
        too_much_ = too_much_ || bytes > most - size_;
        if (!too_much_) size_ += (bytes + alignment - 1) / alignment * alignment;
        return taken;
    }
    [[nodiscard]] pair take_two(std::size_t bytes) noexcept { return {take(bytes), take(bytes)}; }
    [[nodiscard]] ucs_status_t allocate() noexcept {
        if (!too_much_) memory_.reset(new (std::nothrow) std::byte[size_]);
        return memory_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    [[nodiscard]] std::byte* at(place where) const noexcept { return memory_.get() + where; }

private:
    static constexpr std::size_t alignment = alignof(std::max_align_t);

    std::size_t size_ = 0;
    bool too_much_ = false;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace ucg::moe
