// Memory pools: memory that is allocated and freed in the order of a stream.
#pragma once

#include <deque>

#include "test/cuda/driver/memory.hpp"

namespace standin {

// Freed memory that the pool keeps.
struct kept_memory {
    std::uint64_t base;
    std::size_t length;
    std::shared_ptr<block> memory;
    marker freed;  // other streams may use the memory after this
};

// Owned by the table of pools and by its allocations. The lock guards it.
struct pool {
    CUmemoryPool handle;
    device& on;
    unsigned handle_types;
    bool is_default;
    std::deque<kept_memory> kept{};  // the latest is first

    pool(CUmemoryPool named, device& place, unsigned types, bool is_of_device)
        : handle(named), on(place), handle_types(types), is_default(is_of_device) {}
    ~pool();
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
};

// Gives the memory of an allocation that was removed back to its pool.
void release_pool_memory(const allocation& removed, const marker& freed);

// Calls the visitor with each pool that a program has made.
void for_each_pool(const std::function<void(const pool&)>& visitor);

}  // namespace standin
