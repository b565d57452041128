// A peer's block as mapped for the endpoints of a shared memory transport.
#pragma once

#include <cstdint>

#include "ucs/type/result.hpp"
#include "uct/api/atomic.hpp"
#include "uct/api/memory.hpp"
#include "uct/sm/memory/shared_block.hpp"

namespace uct::sm {

// The pages of every host have this size or a multiple of it.
inline constexpr std::uint64_t smallest_page = 4096;

// Returns true if a block can lie at that address: owners allocate blocks with mmap. Words that are
// aligned for the owner are aligned in the mapping of this process only if both begin with a page.
// On misaligned words a processor works slowly, not atomically, or not at all.
[[nodiscard]] constexpr bool is_possible_base(std::uint64_t owners_base) noexcept {
    return owners_base % smallest_page == 0;
}

// Allocates memory, filled with zeros, that processes of the host can map. Returns
// UCS_ERR_UNSUPPORTED if they could not find it. Failures are logged.
[[nodiscard]] ucs::result<shared_memory> share_block(std::size_t length);

// A mapping of the owner's block. Immutable; any thread.
class mapped_memory final : public remote_memory {
public:
    // Maps the block of a key of share_block. The key is untrusted. Returns UCS_ERR_INVALID_PARAM
    // if it is malformed, or UCS_ERR_UNREACHABLE if the block cannot be mapped here. Both are
    // logged.
    static ucs::result<std::unique_ptr<remote_memory>> attach(std::span<const std::byte> key,
                                                              memory_access wanted);

    // See ep::atomic.
    [[nodiscard]] ucs_status_t atomic(const atomic_op& change, std::uint64_t owners_address,
                                      void* before) const noexcept;

private:
    mapped_memory(std::shared_ptr<const shared_block> block, std::uint64_t owners_base,
                  memory_access allowed) noexcept
        : block_(std::move(block)), owners_base_(owners_base), allowed_(allowed) {}

    [[nodiscard]] ucs_status_t check(const atomic_op& change, std::uint64_t owners_address,
                                     const void* before) const noexcept;

    const std::shared_ptr<const shared_block> block_;
    const std::uint64_t owners_base_;
    const memory_access allowed_;
};

}  // namespace uct::sm
