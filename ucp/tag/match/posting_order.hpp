// Order in which receives were posted, used to prefetch the memory of the next receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ucp::tag {

// Programs that post many receives mostly get their messages in about the order of posting, round
// after round. If there are more receives than the near caches hold, each match waits for the
// memory of a receive that was not touched for long. Therefore the next receive is prefetched.
// Addresses are kept as numbers: a receive may be gone, and then nothing is read. While few
// receives are posted this needs no memory. If an allocation fails, nothing is prefetched. Memory
// is kept once allocated (16 bytes per receive that was ever posted at the same time). Owner
// context.
class posting_order {
public:
    // Records that the receive with this number was posted; `posted` receives are posted now.
    void note(std::uint64_t sequence, const void* receive, std::size_t posted) noexcept {
        if (posted > reach_) [[unlikely]]
            grow(posted);
        if (addresses_ != nullptr) {
            addresses_[sequence & mask_] = reinterpret_cast<std::uintptr_t>(receive);
        }
    }

    // Call when the receive with this number was matched. Prefetches the memory that the next match
    // will touch: two cache lines from the recorded address on.
    void fetch_after(std::uint64_t sequence) const noexcept {
        if (addresses_ == nullptr) return;
        const std::uintptr_t next = addresses_[(sequence + 1) & mask_];
        __builtin_prefetch(reinterpret_cast<const void*>(next), 1);
        __builtin_prefetch(reinterpret_cast<const void*>(next + cache_line), 1);
    }

private:
    static constexpr std::size_t cache_line = 64;
    static constexpr std::size_t few = 512;

    [[gnu::noinline, gnu::cold]] void grow(std::size_t posted) noexcept;

    std::unique_ptr<std::uintptr_t[]> addresses_;  // indexed by number & mask_
    std::uint64_t mask_ = 0;
    std::size_t reach_ = few;
};

}  // namespace ucp::tag
