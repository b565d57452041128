// Atomic operations on a peer's memory.
#pragma once

#include "ucp/amo/apply.hpp"
#include "ucp/core/ep.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/mem/rkey.hpp"

namespace ucp {

// Owner context.

// Swapping is of use only to who hears what was there.
[[nodiscard]] inline bool needs_result(const atomic_op& op) noexcept {
    return op.what == UCP_ATOMIC_OP_SWAP || op.what == UCP_ATOMIC_OP_CSWAP;
}

// What cannot be carried out here at once. `result` gets what was there before; nullptr: nobody
// wants to know.
ucs_status_ptr_t atomic_other(ep& to, const atomic_op& op, void* result, std::uint64_t address,
                              const mem::rkey& key, const operation& params);

// See ucp_atomic_op_nbx for the result.
inline ucs_status_ptr_t atomic(ep& to, const atomic_op& op, void* result, std::uint64_t address,
                               const mem::rkey& key, const operation& params) {
    if (params.is_plain() && to.reaches_directly() && op.possible() && address % op.size == 0 &&
        (result != nullptr || !needs_result(op))) [[likely]] {
        if (std::byte* at = key.changeable(address, op.size); at != nullptr) [[likely]] {
            const std::uint64_t before = apply_atomic(at, op);
            if (result != nullptr) std::memcpy(result, &before, op.size);
            return nullptr;
        }
    }
    return atomic_other(to, op, result, address, key, params);
}

}  // namespace ucp
