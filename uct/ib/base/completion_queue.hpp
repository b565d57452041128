// Completions of work requests.
#pragma once

#include <array>
#include <span>

#include "ucs/type/result.hpp"
#include "uct/ib/base/domain.hpp"

namespace uct::ib {

// What the end of a work request means for its connection.
[[nodiscard]] ucs_status_t status_of(ibv_wc_status how) noexcept;

// A completion queue, read in batches. What has_entries found is kept for the next batch. Owned by
// an interface; owner context.
class completion_queue {
public:
    // `size` entries at least; `channel` may be nullptr. `told` is put an event when the queue
    // breaks. Failures are logged.
    static ucs::result<completion_queue> create(domain& on, unsigned size,
                                                ibv_comp_channel* channel, event_inbox& told);

    // The device wakes whoever sleeps only for so many completions, or after so long. False: it
    // cannot do that, and wakes for each.
    [[nodiscard]] bool moderate(domain& on, unsigned count, unsigned microseconds) noexcept;

    static constexpr unsigned most_in_batch = 16;

    // What has completed since, in order; empty: nothing, or the queue is broken.
    // Valid until the next call.
    [[nodiscard]] std::span<const ibv_wc> poll() noexcept {
        if (count_ == 0) fill();
        const std::span<const ibv_wc> batch(entries_.data(), count_);
        last_count_ = count_;
        count_ = 0;
        return batch;
    }
    // What the last call of poll() has returned, if nobody has looked for more since.
    [[nodiscard]] std::span<const ibv_wc> last_batch() const noexcept {
        return {entries_.data(), count_ == 0 ? last_count_ : 0};
    }
    [[nodiscard]] bool has_entries() noexcept {
        if (count_ == 0) fill();
        return count_ > 0;
    }

    // The channel becomes readable with the next completion. False: the queue is broken.
    [[nodiscard]] bool arm() noexcept { return ibv_req_notify_cq(queue_.get(), 0) == 0; }

    [[nodiscard]] ibv_cq& get() const noexcept { return *queue_; }
    [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(queue_->cqe); }

private:
    completion_queue(queue_handle queue, event_inbox& told) noexcept
        : queue_(std::move(queue)), told_(&told) {}
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
    event_inbox* told_;
    std::size_t count_ = 0;
    std::size_t last_count_ = 0;
    bool broken_ = false;
    std::array<ibv_wc, most_in_batch> entries_{};
};

// Calls `receive`, which reads a batch of `from` and returns how many messages it has taken, until
// nothing more has arrived. Bounded by what the queue holds, so a sender cannot keep the caller.
// Returns how many messages were taken in all.
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
