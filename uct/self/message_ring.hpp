// Queue of messages of different lengths, for the loopback transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "uct/api/types.hpp"

namespace uct {

// Ring of records in one block of memory, each contiguous and 16-byte aligned. A ring that runs
// empty starts again at its beginning, so that light traffic stays in the same few cache lines
// and untouched pages are never backed by memory. Owned by self_iface, owner context.
class message_ring {
public:
    struct record {
        alignas(16) std::uint32_t length;
        am_id id;
        [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    };

    explicit message_ring(std::size_t capacity)
        : memory_(new std::byte[capacity]), capacity_(capacity) {}

    // Returns space for a message of up to `max_length` bytes after the newest one, or nullptr.
    // `commit` adds the record to the ring.
    [[nodiscard]] record* reserve(std::size_t max_length) noexcept {
        const std::size_t need = footprint(max_length);
        if (count_ == 0) head_ = tail_ = 0;
        const bool wrapped = count_ > 0 && tail_ <= head_;
        if (wrapped) return head_ - tail_ >= need ? record_at(tail_) : nullptr;
        if (capacity_ - tail_ >= need) return record_at(tail_);
        if (head_ < need) return nullptr;
        end_ = tail_;
        return record_at(0);
    }

    void commit(record& reserved, am_id id, std::size_t length) noexcept {
        reserved.length = static_cast<std::uint32_t>(length);
        reserved.id = id;
        tail_ = position(reserved) + footprint(length);
        ++count_;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] record& front() noexcept { return *record_at(head_); }

    void pop() noexcept {
        head_ += footprint(front().length);
        // That was the last record before the gap at the end of the block.
        if (--count_ > 0 && tail_ <= head_ && head_ == end_) head_ = 0;
    }

private:
    static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= alignof(record));

    static std::size_t footprint(std::size_t length) noexcept {
        return sizeof(record) + (length + 15) / 16 * 16;
    }
    record* record_at(std::size_t offset) noexcept {
        return reinterpret_cast<record*>(memory_.get() + offset);
    }
    std::size_t position(const record& r) const noexcept {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&r) - memory_.get());
    }

    std::unique_ptr<std::byte[]> memory_;
    const std::size_t capacity_;
    std::size_t head_ = 0;  // oldest record
    std::size_t tail_ = 0;  // after the newest record
    std::size_t end_ = 0;   // while wrapped: end of the records before the gap
    std::size_t count_ = 0;
};

}  // namespace uct
