// Memory for stream bytes that arrived before a receive.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

// Filled and read from the front. A program may take the unread bytes without a copy; the pointer
// stored directly before these bytes leads back to the chunk. Owned by the endpoint's channel.
struct alignas(16) stream_chunk {
    std::size_t begin = 0;  // bytes read so far
    std::size_t end = 0;    // bytes filled so far
    std::size_t capacity = 0;
    ucs::datastruct::list_hook hook;
    stream_chunk* space_for_back_pointer = nullptr;

    // Returns nullptr if there is no memory.
    static stream_chunk* make(std::size_t capacity) noexcept {
        void* const memory = ::operator new(sizeof(stream_chunk) + capacity, std::nothrow);
        if (memory == nullptr) return nullptr;
        auto* const made = ::new (memory) stream_chunk;
        made->capacity = capacity;
        return made;
    }
    static void free(stream_chunk& done) noexcept {
        done.~stream_chunk();
        ::operator delete(&done);
    }

    [[nodiscard]] std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] std::size_t unread() const noexcept { return end - begin; }
    [[nodiscard]] std::size_t free_space() const noexcept { return capacity - end; }

    // Returns the unread bytes for the program. The bytes before them have been read or are
    // space_for_back_pointer, so they can hold the back pointer.
    [[nodiscard]] void* hand_out() noexcept {
        std::byte* const shown = bytes() + begin;
        stream_chunk* const self = this;
        std::memcpy(shown - sizeof self, &self, sizeof self);
        return shown;
    }
    static stream_chunk& from_data(const void* shown) noexcept {
        stream_chunk* self;
        std::memcpy(&self, static_cast<const std::byte*>(shown) - sizeof self, sizeof self);
        return *self;
    }
};
static_assert(sizeof(stream_chunk) == 48 || sizeof(stream_chunk) == 64);

}  // namespace ucp
