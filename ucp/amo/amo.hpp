// Atomic operations on a peer's memory.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/mem/rkey.hpp"
#include "uct/sm/memory/apply_atomic.hpp"

namespace ucp {

// Owner context.

// What cannot be carried out here at once. `result` gets what was there before; nullptr: nobody
// wants to know.
ucs_status_ptr_t atomic_other(ep& to, const uct::atomic_op& op, void* result, std::uint64_t address,
                              const mem::rkey& key, const operation& params);

// See ucp_atomic_op_nbx for the result.
inline ucs_status_ptr_t atomic(ep& to, const uct::atomic_op& op, void* result,
                               std::uint64_t address, const mem::rkey& key,
                               const operation& params) {
    if (params.is_plain() && to.reaches_directly() && op.possible() && address % op.size == 0 &&
        (result != nullptr || !op.must_fetch())) [[likely]] {
        if (std::byte* at = key.changeable(address, op.size); at != nullptr) [[likely]] {
            const std::uint64_t before = uct::sm::apply_atomic(at, op);
            if (result != nullptr) std::memcpy(result, &before, op.size);
            return nullptr;
        }
    }
    return atomic_other(to, op, result, address, key, params);
}

}  // namespace ucp
