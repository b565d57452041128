// The sending side of a ring.
#pragma once

#include <atomic>
#include <cassert>
#include <cstring>

#include "ucs/memory/small_copy.hpp"
#include "uct/sm/posix/ring_layout.hpp"

namespace uct::posix {

// Writes messages into a segment that another process reads. The reader's counters are untrusted
// and read only when room runs out. Owned by an endpoint, owner context. A default constructed
// writer never has room.
class ring_writer {
public:
    ring_writer() noexcept = default;
    // With `reader_may_sleep` the writer checks with each message whether the reader must be woken.
    ring_writer(const ring_geometry& geometry, std::byte* segment,
                bool reader_may_sleep = false) noexcept
        : slots_(reinterpret_cast<slot*>(segment + sizeof(ring_control))),
          slot_mask_(geometry.slots - 1),
          phase_shift_(static_cast<std::uint32_t>(std::countr_zero(geometry.slots))),
          reader_may_sleep_(reader_may_sleep),
          limit_(geometry.slots),
          bulk_(segment + geometry.bulk_offset()),
          control_(reinterpret_cast<ring_control*>(segment)),
          bulk_size_(geometry.bulk_size) {}

    [[nodiscard]] bool has_slot() const noexcept { return tail_ != limit_; }

    // Requires has_slot. `length` is at most inline_message - 8. Returns true, like commit, if the
    // reader sleeps and must be woken.
    [[nodiscard]] bool put_inline(am_id id, std::uint64_t header, const void* payload,
                                  std::size_t length) noexcept {
        slot& into = slots_[tail_ & slot_mask_];
        std::memcpy(into.body, &header, sizeof header);
        ucs::memory::copy_small<inline_message - sizeof header>(into.body + sizeof header, payload,
                                                                length);
        return publish(into, id, 0, sizeof header + length);
    }

    // Returns space for a message of up to `capacity` contiguous bytes, or nullptr. `commit` takes
    // it.
    [[nodiscard]] std::byte* reserve(std::size_t capacity) noexcept {
        const std::uint64_t offset = bulk_tail_ & (bulk_size_ - 1);
        const std::uint64_t padding = offset + capacity > bulk_size_ ? bulk_size_ - offset : 0;
        if (bulk_tail_ + padding + capacity - bulk_consumed_ > bulk_size_) return nullptr;
        bulk_tail_ += padding;
        return bulk_ + (bulk_tail_ & (bulk_size_ - 1));
    }

    // Publishes the bytes that were written after the last reserve. Requires has_slot.
    [[nodiscard]] bool commit(am_id id, std::size_t length) noexcept {
        slot& into = slots_[tail_ & slot_mask_];
        if (length <= inline_message) {
            // This saves a cache line, and the bulk bytes stay free.
            ucs::memory::copy_small<inline_message>(
                into.body, bulk_ + (bulk_tail_ & (bulk_size_ - 1)), length);
            return publish(into, id, 0, length);
        }
        std::memcpy(into.body, &bulk_tail_, sizeof bulk_tail_);
        bulk_tail_ += round_up(length, cache_line);
        return publish(into, id, slot_word::bulk_flag, length);
    }

    // Reads the reader's counters. Returns false if they are impossible.
    [[nodiscard]] bool refresh() noexcept {
        if (control_ == nullptr) return true;
        const std::uint64_t slots =
            std::atomic_ref(control_->slots_consumed).load(std::memory_order_acquire);
        const std::uint64_t bulk =
            std::atomic_ref(control_->bulk_consumed).load(std::memory_order_acquire);
        if (tail_ - slots > slot_mask_ + std::uint64_t{1}) return false;
        if (bulk_tail_ - bulk > bulk_size_) return false;
        limit_ = slots + slot_mask_ + 1;
        bulk_consumed_ = bulk;
        return true;
    }

    // To be called before the writer sleeps: the reader will wake it when there is room. Returns
    // false if the reader has made room since the last refresh.
    [[nodiscard]] bool sleep() noexcept {
        if (control_ == nullptr) return true;
        static_cast<void>(set_sleeper(control_->sender_sleeps));
        const std::uint64_t slots =
            std::atomic_ref(control_->slots_consumed).load(std::memory_order_seq_cst);
        if (slots + slot_mask_ + 1 == limit_) return true;
        static_cast<void>(refresh());  // impossible counters are reported with the next message
        return false;
    }

    // Marks the ring as closed, which distinguishes closing from the death of the sender.
    void close() noexcept {
        if (control_ != nullptr) {
            std::atomic_ref(control_->closed).store(1, std::memory_order_release);
        }
    }

private:
    [[nodiscard]] bool publish(slot& into, am_id id, std::uint64_t flags,
                               std::size_t length) noexcept {
        const std::uint64_t phase = (tail_ >> phase_shift_ & 1) ^ 1;
        const std::uint64_t word = slot_word::make(phase, id, flags, length);
        ++tail_;
        if (reader_may_sleep_) [[unlikely]] {
            std::atomic_ref(into.word).store(word, std::memory_order_seq_cst);
            return take_sleeper(control_->receiver_sleeps);
        }
        std::atomic_ref(into.word).store(word, std::memory_order_release);
        return false;
    }

    slot* slots_ = nullptr;
    std::uint32_t slot_mask_ = 0;
    std::uint32_t phase_shift_ = 0;
    bool reader_may_sleep_ = false;
    std::uint64_t tail_ = 0;   // slots written
    std::uint64_t limit_ = 0;  // end of the free slots, as far as known
    std::byte* bulk_ = nullptr;
    std::uint64_t bulk_tail_ = 0;      // position of the next message
    std::uint64_t bulk_consumed_ = 0;  // as far as known
    ring_control* control_ = nullptr;
    std::uint64_t bulk_size_ = 0;
};

}  // namespace uct::posix
