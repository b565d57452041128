// Memory that an operation of a stream uses.
#pragma once

#include <vector>

#include "test/cuda/driver/memory.hpp"

namespace standin {

// A part of a range within one allocation; without one, it is pageable memory.
struct piece {
    allocation_ref source;
    char* bytes;  // where the stand-in accesses it
    std::size_t length;
};

struct memory_range {
    std::vector<piece> pieces;
    bool is_device = false;  // of a device, or managed
    bool is_managed = false;
    bool is_pageable = false;  // memory of the host that the driver does not know
    bool has_sync_memops = false;
};

// Finds the memory of a range that a context uses. Fails with CUDA_ERROR_INVALID_VALUE if part of
// it is no memory, or memory that the context's device may not access. Holds the lock.
[[nodiscard]] memory_range resolve(std::uint64_t address, std::size_t length, const context& user);

// Fails with CUDA_ERROR_ILLEGAL_ADDRESS if memory was freed, here or in the process that exported
// it. Any thread.
void check_not_freed(const memory_range& used);

// As above; also fails if memory of a pool is not allocated yet in the order of streams. Holds the
// lock.
void check_usable(const memory_range& used, const stream& user);

[[nodiscard]] bool overlap(const memory_range& first, const memory_range& second) noexcept;

// Copies between ranges of equal length. Any thread.
void copy_bytes(const memory_range& to, const memory_range& from);

}  // namespace standin
