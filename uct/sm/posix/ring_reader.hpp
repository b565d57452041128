// The receiving side of a ring.
#pragma once

#include <atomic>
#include <cstring>

#include "uct/sm/posix/ring_layout.hpp"

namespace uct::posix {

// A message where it lies in the ring.
struct ring_message {
    am_id id = 0;
    void* data = nullptr;
    std::size_t length = 0;
};

// Reads messages from a segment that an untrusted process writes. Each number is read once and
// checked before use, so invalid data gives an error and never an access outside the segment. The
// bytes of a message may still change while they are read. Owner context.
class ring_reader {
public:
    ring_reader() noexcept = default;
    ring_reader(const ring_geometry& geometry, std::byte* segment) noexcept
        : next_(reinterpret_cast<slot*>(segment + sizeof(ring_control))),
          slots_(next_),
          slots_end_(next_ + geometry.slots),
          publish_mask_(geometry.slots / 4 - 1),
          bulk_(segment + geometry.bulk_offset()),
          control_(reinterpret_cast<ring_control*>(segment)),
          bulk_size_(geometry.bulk_size) {}

    // Returns true if the next slot has been published.
    [[nodiscard]] bool ready() const noexcept {
        return ((std::atomic_ref(next_->word).load(std::memory_order_relaxed) ^ phase_) & 1) == 0;
    }

    // Reads the next message. Requires ready. Returns false if the sender wrote invalid data; then
    // the ring must be given up.
    [[nodiscard]] bool take(ring_message& message) noexcept {
        const std::uint64_t word = std::atomic_ref(next_->word).load(std::memory_order_acquire);
        message.id = slot_word::id(word);
        message.length = slot_word::length(word);
        if ((word & slot_word::flags_mask) == 0) [[likely]] {
            message.data = next_->body;
            return message.length <= inline_message;
        }
        return take_bulk(word, message);
    }

    // Returns the space of the last message to the sender, and publishes that now and then. Returns
    // true if the sender sleeps until there is room, and must be woken.
    [[nodiscard]] bool release() noexcept {
        ++consumed_;
        if (++next_ == slots_end_) {
            next_ = slots_;
            phase_ ^= 1;
        }
        if ((consumed_ & publish_mask_) == 0 ||
            bulk_consumed_ - bulk_published_ >= bulk_size_ / 4) {
            return publish_consumed();
        }
        return false;
    }

    // To be called before the reader sleeps: the sender will wake it with its next message. Returns
    // false if there is a message already.
    [[nodiscard]] bool sleep() noexcept {
        const bool slept_before = set_sleeper(control_->receiver_sleeps);
        const std::uint64_t word = std::atomic_ref(next_->word).load(std::memory_order_seq_cst);
        if (((word ^ phase_) & 1) != 0) return true;
        // The mark of an earlier sleep stays, because another thread may still sleep with it.
        if (!slept_before) {
            std::atomic_ref(control_->receiver_sleeps).store(0, std::memory_order_relaxed);
        }
        return false;
    }

    // Returns true if the sender has marked the ring as closed. Meaningful once its process is
    // known to be gone.
    [[nodiscard]] bool closed_in_order() const noexcept {
        return std::atomic_ref(control_->closed).load(std::memory_order_acquire) == 1;
    }

    [[nodiscard]] std::uint64_t received() const noexcept { return consumed_; }
    [[nodiscard]] std::size_t slots() const noexcept {
        return static_cast<std::size_t>(slots_end_ - slots_);
    }

private:
    [[nodiscard]] bool take_bulk(std::uint64_t word, ring_message& message) noexcept {
        std::uint64_t position = 0;
        static_assert(alignof(slot) >= alignof(std::uint64_t));
        position = std::atomic_ref(*reinterpret_cast<std::uint64_t*>(next_->body))
                       .load(std::memory_order_relaxed);
        const std::uint64_t offset = position & (bulk_size_ - 1);
        const bool sane = (word & slot_word::flags_mask) == slot_word::bulk_flag &&
                          position % cache_line == 0 && position - bulk_consumed_ <= bulk_size_ &&
                          message.length <= bulk_size_ - offset;
        if (!sane) return false;
        message.data = bulk_ + offset;
        bulk_consumed_ = position + round_up(message.length, cache_line);
        return true;
    }

    [[nodiscard]] bool publish_consumed() noexcept {
        std::atomic_ref(control_->bulk_consumed).store(bulk_consumed_, std::memory_order_release);
        std::atomic_ref(control_->slots_consumed).store(consumed_, std::memory_order_seq_cst);
        bulk_published_ = bulk_consumed_;
        return take_sleeper(control_->sender_sleeps);
    }

    slot* next_ = nullptr;
    std::uint64_t phase_ = 1;
    slot* slots_ = nullptr;
    slot* slots_end_ = nullptr;
    std::uint64_t consumed_ = 0;
    std::uint64_t publish_mask_ = 0;
    std::uint64_t bulk_consumed_ = 0;  // advanced by take, published by release
    std::uint64_t bulk_published_ = 0;
    std::byte* bulk_ = nullptr;
    ring_control* control_ = nullptr;
    std::uint64_t bulk_size_ = 0;
};

}  // namespace uct::posix
