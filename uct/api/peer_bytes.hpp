// Bytes of a message that its sender may still change.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace uct {

// A message as a transport delivers it. It may lie in memory that its sender can write to (the ring
// of a process on this host), so two reads of the same byte may give two values, and a check of the
// first value says nothing about the second. Therefore the bytes cannot be accessed in place. A
// handler copies what it interprets once, and then checks and uses the copy. Payload, which it does
// not interpret, it only passes on. This costs no more than a pointer and a length. Valid during
// the call of the handler.
class peer_bytes {
public:
    peer_bytes() noexcept = default;
    peer_bytes(const void* data, std::size_t size) noexcept
        : data_(static_cast<const std::byte*>(data)), size_(size) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    // Returns the bytes after the first `length` ones. The caller must have checked the size.
    [[nodiscard]] peer_bytes after(std::size_t length) const noexcept {
        assert(length <= size_);
        return {data_ + length, size_ - length};
    }

    // Copies the value at the beginning. The caller must have checked the size.
    template<class Value>
    void read(Value& into) const noexcept {
        static_assert(std::is_trivially_copyable_v<Value>);
        assert(sizeof into <= size_);
        std::memcpy(&into, data_, sizeof into);
        // Tells the compiler that the bytes may have changed. Otherwise it might omit the copy, and
        // read a field again from its source on each use.
        using image = unsigned char[sizeof(Value)];
        asm volatile("" : "+m"(*reinterpret_cast<image*>(const_cast<std::byte*>(data_))));
    }

    // Returns a copy of all bytes. May throw std::bad_alloc.
    [[nodiscard]] std::vector<std::byte> copy() const {
        std::vector<std::byte> made(size_);
        if (size_ > 0) std::memcpy(made.data(), data_, size_);
        return made;
    }

    // For bytes that are copied or passed on, and not interpreted here.
    [[nodiscard]] const std::byte* payload() const noexcept { return data_; }

private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace uct
