// Bytes of a stream that came before somebody wanted them.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

// Memory of its own, filled from the front and read from the front. A program may take what is
// there, without a copy; the word before what it sees leads back here. Owned by the endpoint's
// channel.
struct alignas(16) stream_chunk {
    std::size_t begin = 0;  // read so far
    std::size_t end = 0;    // filled so far
    std::size_t capacity = 0;
    ucs::datastruct::list_hook hook;
    stream_chunk* room_for_the_word_before = nullptr;

    // nullptr: no memory.
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
    [[nodiscard]] std::size_t room() const noexcept { return capacity - end; }

    // What is unread, for the program. What lies before has been read: it holds the way back.
    [[nodiscard]] void* hand_out() noexcept {
        std::byte* const shown = bytes() + begin;
        stream_chunk* const self = this;
        std::memcpy(shown - sizeof self, &self, sizeof self);
        return shown;
    }
    static stream_chunk& of(const void* shown) noexcept {
        stream_chunk* self;
        std::memcpy(&self, static_cast<const std::byte*>(shown) - sizeof self, sizeof self);
        return *self;
    }
};
static_assert(sizeof(stream_chunk) == 48 || sizeof(stream_chunk) == 64);

}  // namespace ucp
