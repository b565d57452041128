// The queue pair of a connection with the work requests that the device has not completed.
#pragma once

#include "uct/ib/base/credits.hpp"
#include "uct/ib/rc/base/queue_pair.hpp"

namespace uct::rc {

// Posts work requests and counts their credits. The id of a work request consists of the
// connection's slot in its interface and the request's number, so that a completion can be
// assigned. Owned by the connection, which handles errors. Owner context.
class work_queue {
public:
    struct setup {
        ib::completion_credits& shared;  // credits of the completion queue
        std::uint32_t slot;
        std::uint32_t moderation;
    };
    work_queue(const setup& with, queue_pair made) noexcept;

    [[nodiscard]] const ib::send_credits& credits() const noexcept { return credits_; }
    [[nodiscard]] bool empty() const noexcept { return credits_.outstanding() == 0; }
    // Returns true if so many work requests may be posted now.
    [[nodiscard]] bool has_room(std::uint32_t count = 1) const noexcept {
        return credits_.any(count) && shared_.may_take(credits_.awaited(), count);
    }
    // Returns true if the last request of a failed queue pair may be posted now.
    [[nodiscard]] bool has_room_for_last() const noexcept {
        return credits_.last() && shared_.any();
    }
    // Returns true if so many work requests can ever be posted at once.
    [[nodiscard]] bool can_hold(std::uint32_t count) const noexcept {
        return count < credits_.size() && count <= shared_.size();
    }
    // Posts a work request; requires has_room. `wanted`: the request must be signaled. Returns 0 or
    // the device's error.
    [[nodiscard]] int post(ibv_send_wr& request, bool wanted) noexcept {
        const bool signaled = wanted || credits_.must_signal() || shared_.scarce();
        if (signaled) request.send_flags |= IBV_SEND_SIGNALED;
        request.wr_id = id_of(credits_.next());
        ibv_send_wr* bad = nullptr;
        if (const int error = ibv_post_send(&pair.get(), &request, &bad); error != 0) [[unlikely]]
            return error;
        credits_.post(signaled);
        shared_.take();
        ++doorbells_;
        return 0;
    }
    // Posts two work requests with one doorbell; requires has_room(2). The second one is signaled.
    // Sets `error` to 0 or the device's error, and returns how many requests the device took.
    unsigned post_pair(ibv_send_wr& first, ibv_send_wr& second, int& error) noexcept;
    // The work request of that number, and those before it, have ended.
    void complete(std::uint32_t number) noexcept {
        shared_.give_back(credits_.complete(number));
        ++completions_;
    }
    // Destroys the queue pair; the device completes nothing any more.
    void abandon() noexcept {
        pair.destroy();
        shared_.give_back(credits_.complete(credits_.newest()));
    }

    [[nodiscard]] std::uint64_t doorbells() const noexcept { return doorbells_; }
    [[nodiscard]] std::uint64_t completions() const noexcept { return completions_; }

    const std::uint32_t slot;
    queue_pair pair;

private:
    [[nodiscard]] std::uint64_t id_of(std::uint32_t number) const noexcept {
        return std::uint64_t{slot} << 32U | number;
    }

    ib::completion_credits& shared_;
    ib::send_credits credits_;
    std::uint64_t doorbells_ = 0;
    std::uint64_t completions_ = 0;
};

// Number and slot of the id of a work request.
[[nodiscard]] constexpr std::uint32_t slot_of(std::uint64_t request_id) noexcept {
    return static_cast<std::uint32_t>(request_id >> 32U);
}
[[nodiscard]] constexpr std::uint32_t number_of(std::uint64_t request_id) noexcept {
    return static_cast<std::uint32_t>(request_id);
}

}  // namespace uct::rc
