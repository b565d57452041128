// Copies in vectors of 16 bytes, the longest access of a thread.
//
// The threads of a block access consecutive vectors. Any address and length works: where an address
// is not a multiple of 16, or at the end, a vector is accessed in words of 4 bytes or in bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/cuda/kernels/portable.cuh"
#include "ucg/cuda/layout.hpp"

namespace ucg::cuda::kernels {

struct alignas(vector_bytes) vector {
    std::uint32_t words[vector_bytes / 4];
};

// Returns the length of the vector at `offset`, which is shorter at the end.
UCG_DEVICE unsigned vector_length(std::uint64_t bytes, std::uint64_t offset) {
    const std::uint64_t left = bytes - offset;
    return static_cast<unsigned>(left < vector_bytes ? left : vector_bytes);
}

UCG_DEVICE bool is_multiple(const std::byte* address, unsigned bytes, unsigned unit) {
    return (reinterpret_cast<std::uintptr_t>(address) | bytes) % unit == 0;
}

UCG_DEVICE vector load(const std::byte* aligned_from) {
    return *reinterpret_cast<const vector*>(aligned_from);
}

// Returns `bytes` bytes, at most a vector, followed by zeros.
UCG_DEVICE vector load_some(const std::byte* from, unsigned bytes) {
    if (is_multiple(from, bytes, vector_bytes)) return load(from);
    vector loaded{};
    if (is_multiple(from, bytes, 4)) {
        UCG_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            if (4 * i < bytes) loaded.words[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
        }
        return loaded;
    }
    UCG_UNROLL
    for (unsigned i = 0; i < vector_bytes; ++i) {
        if (i < bytes) loaded.words[i / 4] |= static_cast<std::uint32_t>(from[i]) << 8 * (i % 4);
    }
    return loaded;
}

UCG_DEVICE void store(std::byte* aligned_to, const vector& value) {
    *reinterpret_cast<vector*>(aligned_to) = value;
}

// Stores the first `bytes` bytes of a vector.
UCG_DEVICE_CALL void store_some(std::byte* to, const vector& value, unsigned bytes) {
    if (is_multiple(to, bytes, vector_bytes)) return store(to, value);
    if (is_multiple(to, bytes, 4)) {
        UCG_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            if (4 * i < bytes) reinterpret_cast<std::uint32_t*>(to)[i] = value.words[i];
        }
        return;
    }
    UCG_UNROLL
    for (unsigned i = 0; i < vector_bytes; ++i) {
        if (i < bytes) to[i] = static_cast<std::byte>(value.words[i / 4] >> 8 * (i % 4) & 0xffU);
    }
}

// Copies whole vectors between aligned addresses. Each thread loads several vectors before it
// stores them, because a load from another device takes long.
UCG_DEVICE void copy_vectors(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    constexpr unsigned batch = 4;
    const std::uint64_t stride = std::uint64_t{thread_count()} * vector_bytes;
    std::uint64_t first = std::uint64_t{thread_index()} * vector_bytes;
    for (; first < bytes; first += batch * stride) {
        vector loaded[batch];
        UCG_UNROLL
        for (unsigned i = 0; i < batch; ++i) {
            if (first + i * stride < bytes) loaded[i] = load(from + first + i * stride);
        }
        UCG_UNROLL
        for (unsigned i = 0; i < batch; ++i) {
            if (first + i * stride < bytes) store(to + first + i * stride, loaded[i]);
        }
    }
}

// Copies by all threads of the block, without a barrier.
UCG_DEVICE_CALL void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    const std::uint64_t stride = std::uint64_t{thread_count()} * vector_bytes;
    std::uint64_t offset = std::uint64_t{thread_index()} * vector_bytes;
    if (is_multiple(to, 0, vector_bytes) && is_multiple(from, 0, vector_bytes)) {
        const std::uint64_t whole = bytes / vector_bytes * vector_bytes;
        copy_vectors(to, from, whole);
        offset += whole;
    }
    for (; offset < bytes; offset += stride) {
        const unsigned length = vector_length(bytes, offset);
        store_some(to + offset, load_some(from + offset, length), length);
    }
}

}  // namespace ucg::cuda::kernels
