// Put and get: the fast path, and how the rest begins.
#pragma once

#include "ucp/core/ep.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/mem/rkey.hpp"
#include "ucp/rma/store.hpp"

namespace ucp {

// Owner context. See ucp_put_nbx and ucp_get_nbx for the results.

// Everything that is not one piece of bytes in memory that is mapped here.
ucs_status_ptr_t rma_put_other(ep& to, const void* buffer, std::size_t count, std::uint64_t address,
                               const mem::rkey& key, const operation& params);
ucs_status_ptr_t rma_get_other(ep& from, void* buffer, std::size_t count, std::uint64_t address,
                               const mem::rkey& key, const operation& params);

// Whether it is one piece of `length` bytes and nothing is in the way of loads and stores.
inline bool ends_in_call(const ep& with, const void* buffer, std::size_t count,
                         const operation& params, std::size_t& length) noexcept {
    const ucp_datatype_t datatype = params.datatype();
    return params.is_plain() && with.reaches_directly() && dt::is_contig(datatype) &&
           dt::contig_length(datatype, count, length) && buffer != nullptr;
}

inline ucs_status_ptr_t rma_put(ep& to, const void* buffer, std::size_t count,
                                std::uint64_t address, const mem::rkey& key,
                                const operation& params) {
    std::size_t length;
    if (ends_in_call(to, buffer, count, params, length)) [[likely]] {
        if (std::byte* at = key.writable(address, length); at != nullptr) [[likely]] {
            store_once(at, buffer, length);
            return nullptr;
        }
    }
    return rma_put_other(to, buffer, count, address, key, params);
}

inline ucs_status_ptr_t rma_get(ep& from, void* buffer, std::size_t count, std::uint64_t address,
                                const mem::rkey& key, const operation& params) {
    std::size_t length;
    if (ends_in_call(from, buffer, count, params, length)) [[likely]] {
        if (const std::byte* at = key.readable(address, length); at != nullptr) [[likely]] {
            store_once(buffer, at, length);
            return nullptr;
        }
    }
    return rma_get_other(from, buffer, count, address, key, params);
}

// Begins an operation on remote memory that was submitted: the endpoint is connected, and nothing
// has to be waited for.
void start_rma(request& started);

}  // namespace ucp
