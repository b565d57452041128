// Completion queues.
#pragma once

#include <array>
#include <span>

#include "ucs/type/result.hpp"
#include "uct/ib/base/memory/domain.hpp"

namespace uct::ib {

// Returns the status of a connection after a work request has ended this way.
[[nodiscard]] ucs_status_t status_of(ibv_wc_status status) noexcept;

// A completion queue, read in batches. The entries that has_entries finds are kept for the next
// batch. Owned by an interface; owner context.
class completion_queue {
public:
    // `size`: least number of entries. `channel` may be nullptr. `inbox` receives an event when the
    // queue breaks. Failures are logged.
    static ucs::result<completion_queue> create(domain& on, unsigned size,
                                                ibv_comp_channel* channel, event_inbox& inbox);

    // Lets the device wake a sleeping thread only after so many completions, or after so long.
    // Returns false if the device cannot do that and wakes for each completion.
    [[nodiscard]] bool moderate(domain& on, unsigned count, unsigned microseconds) noexcept;

    static constexpr unsigned most_in_batch = 16;

    // Returns the completions since the last call, in order. Empty if there are none, or the queue
    // is broken. Valid until the next call.
    [[nodiscard]] std::span<const ibv_wc> poll() noexcept {
        if (count_ == 0) fill();
        const std::span<const ibv_wc> batch(entries_.data(), count_);
        last_count_ = count_;
        count_ = 0;
        return batch;
    }
    // Returns the result of the last poll(), unless the queue was read since.
    [[nodiscard]] std::span<const ibv_wc> last_batch() const noexcept {
        return {entries_.data(), count_ == 0 ? last_count_ : 0};
    }
    [[nodiscard]] bool has_entries() noexcept {
        if (count_ == 0) fill();
        return count_ > 0;
    }

    // Makes the channel readable with the next completion. Returns false if the queue is broken.
    [[nodiscard]] bool arm() noexcept { return ibv_req_notify_cq(queue_.get(), 0) == 0; }

    [[nodiscard]] ibv_cq& get() const noexcept { return *queue_; }
    [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(queue_->cqe); }

private:
    completion_queue(queue_handle queue, event_inbox& inbox) noexcept
        : queue_(std::move(queue)), inbox_(&inbox) {}
    void fill() noexcept {
        const int found =
            ibv_poll_cq(queue_.get(), static_cast<int>(entries_.size()), entries_.data());
        if (found > 0) {
            count_ = static_cast<std::size_t>(found);
        } else if (found < 0) [[unlikely]] {
            note_broken();
        }
    }
    [[gnu::cold]] void note_broken() noexcept;

    queue_handle queue_;
    event_inbox* inbox_;
    std::size_t count_ = 0;
    std::size_t last_count_ = 0;
    bool broken_ = false;
    std::array<ibv_wc, most_in_batch> entries_{};
};

// Calls `receive`, which reads a batch of `from` and returns its number of messages, until no more
// have arrived. The size of the queue bounds the loop, so a sender cannot keep the caller busy.
// Returns the number of messages in total.
template<class Receive>
unsigned receive_all(const completion_queue& from, const Receive& receive) {
    unsigned taken = 0;
    for (unsigned turns = from.size() / completion_queue::most_in_batch + 1; turns > 0; --turns) {
        const unsigned more = receive();
        if (more == 0) break;
        taken += more;
    }
    return taken;
}

}  // namespace uct::ib
