// A peer's block as mapped for the endpoints of a shared memory transport.
#pragma once

#include "ucs/type/result.hpp"
#include "uct/api/atomic.hpp"
#include "uct/api/memory.hpp"
#include "uct/sm/memory/shared_block.hpp"

namespace uct::sm {

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
