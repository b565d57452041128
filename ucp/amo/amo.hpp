// Atomic operations on a peer's memory.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/mem/rkey.hpp"
#include "ucp/rma/order.hpp"
#include "uct/sm/memory/apply_atomic.hpp"

namespace ucp {

// Owner context.

// Handles operations that cannot be carried out in the call. `result` gets the previous value, or
// is nullptr if the value is not wanted.
ucs_status_ptr_t atomic_other(ep& to, const uct::atomic_op& op, void* result, std::uint64_t address,
                              const mem::rkey& key, const operation& params);

// See ucp_atomic_op_nbx for the result.
inline ucs_status_ptr_t atomic(ep& to, const uct::atomic_op& op, void* result,
                               std::uint64_t address, const mem::rkey& key,
                               const operation& params) {
    if (params.is_plain() && reaches_directly(to) && op.possible() && address % op.size == 0 &&
        (result != nullptr || !op.must_fetch()) && ucs::memory::is_host(result)) [[likely]] {
        if (std::byte* target = key.changeable(address, op.size); target != nullptr) [[likely]] {
            const std::uint64_t before = uct::sm::apply_atomic(target, op);
            if (result != nullptr) std::memcpy(result, &before, op.size);
            return nullptr;
        }
    }
    return atomic_other(to, op, result, address, key, params);
}

}  // namespace ucp
