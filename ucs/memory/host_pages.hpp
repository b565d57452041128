// Remembers pages of host memory, so that the driver of a device need not be asked again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ucs/memory/region_set.hpp"

namespace ucs::memory {

// A set of pages that are known to be host memory. It forgets pages at will: a page takes the place
// of another one with the same hash. A page stays host memory until it is unmapped, because a
// driver can give an address to a device only after that, so the owner calls `remove` before
// memory is unmapped. Allocates nothing. Any thread, without locks.
class host_pages {
public:
    static constexpr unsigned page_bits = 12;

    [[nodiscard]] bool contains(const void* address) const noexcept {
        const std::uintptr_t page = page_of(address);
        return slots_[index(page)].load(std::memory_order_relaxed) == page;
    }

    // Begins a question to the driver; its result is valid for `add` alone.
    [[nodiscard]] std::uint64_t begin_query() const noexcept { return removals_.load(); }
    // Adds the page of an address that the driver does not know. Does nothing if pages were removed
    // since begin_query(): the answer may be outdated.
    void add(const void* address, std::uint64_t query) noexcept;

    void remove(const address_range& unmapped) noexcept;

private:
    static constexpr std::size_t slot_count = 4096;

    [[nodiscard]] static std::uintptr_t page_of(const void* address) noexcept {
        return reinterpret_cast<std::uintptr_t>(address) >> page_bits;
    }
    [[nodiscard]] static std::size_t index(std::uintptr_t page) noexcept {
        return page % slot_count;
    }

    // 0 in an empty slot, so the page of the null pointer is always in the set.
    std::array<std::atomic<std::uintptr_t>, slot_count> slots_{};
    std::atomic<std::uint64_t> removals_{0};
};

}  // namespace ucs::memory
