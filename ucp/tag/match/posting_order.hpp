// Which receive was posted after which, to have its memory ready when its message comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ucp::tag {

// Programs that post many receives mostly get their messages in about the order of posting, round
// after round. With more receives than the near caches hold, each match waits for the memory of a
// receive that was not touched for long; so the one behind it is fetched ahead. Addresses are kept
// as numbers: one may be gone, and then nothing is read. Needs no memory while few are posted, and
// does nothing where it gets none; what it has it keeps (16 bytes per receive that was ever posted
// at the same time). Owner context.
class posting_order {
public:
    // The receive with this number was posted; so many are now.
    void note(std::uint64_t sequence, const void* receive, std::size_t posted) noexcept {
        if (posted > reach_) [[unlikely]]
            grow(posted);
        if (places_ != nullptr) {
            places_[sequence & mask_] = reinterpret_cast<std::uintptr_t>(receive);
        }
    }

    // The receive with this number was matched: fetches what the next match will touch, the first
    // two cache lines behind the address that was noted.
    void fetch_after(std::uint64_t sequence) const noexcept {
        if (places_ == nullptr) return;
        const std::uintptr_t next = places_[(sequence + 1) & mask_];
        __builtin_prefetch(reinterpret_cast<const void*>(next), 1);
        __builtin_prefetch(reinterpret_cast<const void*>(next + cache_line), 1);
    }

private:
    static constexpr std::size_t cache_line = 64;
    static constexpr std::size_t few = 512;

    [[gnu::noinline, gnu::cold]] void grow(std::size_t posted) noexcept;

    std::unique_ptr<std::uintptr_t[]> places_;  // by number, as far back as `mask_` says
    std::uint64_t mask_ = 0;
    std::size_t reach_ = few;
};

}  // namespace ucp::tag
