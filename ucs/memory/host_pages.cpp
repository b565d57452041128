#include "ucs/memory/host_pages.hpp"

namespace ucs::memory {

// All accesses are sequentially consistent. If `remove` counts before the check below, the page is
// dropped here; otherwise the page is stored before `remove` looks for it.
void host_pages::add(const void* address, std::uint64_t query) noexcept {
    std::uintptr_t page = page_of(address);
    std::atomic<std::uintptr_t>& slot = slots_[index(page)];
    slot.store(page);
    if (removals_.load() != query) slot.compare_exchange_strong(page, 0);
}

void host_pages::remove(const address_range& unmapped) noexcept {
    if (unmapped.end <= unmapped.begin) return;
    removals_.fetch_add(1);
    const std::uintptr_t first = unmapped.begin >> page_bits;
    const std::uintptr_t last = (unmapped.end - 1) >> page_bits;
    if (last - first >= slot_count) {
        for (auto& slot : slots_)
            slot.store(0);
        return;
    }
    for (std::uintptr_t page = first; page <= last; ++page) {
        std::uintptr_t known = page;
        slots_[index(page)].compare_exchange_strong(known, 0);
    }
}

}  // namespace ucs::memory
