// Put and get: the fast path inside the call, and the start of all other operations.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/mem/rkey.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/store.hpp"

namespace ucp {

// Owner context. See ucp_put_nbx and ucp_get_nbx for the results.

// Handles every put and get that is not one contiguous piece in memory mapped here.
ucs_status_ptr_t rma_put_other(ep& to, const void* buffer, std::size_t count, std::uint64_t address,
                               const mem::rkey& key, const operation& params);
ucs_status_ptr_t rma_get_other(ep& from, void* buffer, std::size_t count, std::uint64_t address,
                               const mem::rkey& key, const operation& params);

// Returns true if the operation is one piece of `length` bytes and nothing prevents loads and
// stores.
inline bool ends_in_call(const ep& endpoint, const void* buffer, std::size_t count,
                         const operation& params, std::size_t& length) noexcept {
    const ucp_datatype_t datatype = params.datatype();
    return params.is_plain() && reaches_directly(endpoint) && dt::is_contig(datatype) &&
           dt::contig_length(datatype, count, length) && buffer != nullptr &&
           ucs::memory::is_host(buffer);
}

inline ucs_status_ptr_t rma_put(ep& to, const void* buffer, std::size_t count,
                                std::uint64_t address, const mem::rkey& key,
                                const operation& params) {
    std::size_t length;
    if (ends_in_call(to, buffer, count, params, length)) [[likely]] {
        if (std::byte* target = key.writable(address, length); target != nullptr) [[likely]] {
            store_once(target, buffer, length);
            return nullptr;
        }
    }
    return rma_put_other(to, buffer, count, address, key, params);
}

inline ucs_status_ptr_t rma_get(ep& from, void* buffer, std::size_t count, std::uint64_t address,
                                const mem::rkey& key, const operation& params) {
    std::size_t length;
    if (ends_in_call(from, buffer, count, params, length)) [[likely]] {
        if (const std::byte* source = key.readable(address, length); source != nullptr) [[likely]] {
            store_once(buffer, source, length);
            return nullptr;
        }
    }
    return rma_get_other(from, buffer, count, address, key, params);
}

// Fence of a worker: later operations on the memory of each peer wait for earlier ones. Returns
// false if there is no memory.
[[nodiscard]] bool fence(worker& owner);

// Starts a submitted operation on remote memory. The endpoint is connected, and the operation has
// nothing to wait for.
void start_rma(request& started);
// Starts it with a given protocol. If the protocol moves host memory only, a buffer on a device is
// staged first.
void start_rma_with(request& started, const protocol& chosen);

}  // namespace ucp
