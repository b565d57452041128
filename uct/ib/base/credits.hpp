// Credits for work requests: free entries of send queues and completion queues, as plain counters.
#pragma once

#include <cstdint>

namespace uct::ib {

// Credits of a completion queue that several send queues share. Each posted work request counts
// until it is known to be complete, whether it is signaled or not: if its queue pair fails, it
// produces a completion. So the queue cannot overrun. Value type.
class completion_credits {
public:
    explicit completion_credits(std::uint32_t size) noexcept : size_(size) {}

    [[nodiscard]] bool any(std::uint32_t count = 1) const noexcept {
        return used_ + count <= size_;
    }
    // Returns true if a queue pair that waits for the completion of `held` requests may post
    // `count` more. It gets at most as many as are left beside the reserve: this is the dynamic
    // threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking, 1998). If a peer
    // receives nothing, the requests of its queue pair are never completed, so this rule leaves
    // some credits for the others. The reserve is for queue pairs that hold almost nothing, because
    // each blocked queue pair makes the share of the next one smaller.
    [[nodiscard]] bool may_take(std::uint32_t held, std::uint32_t count = 1) const noexcept {
        const std::uint32_t free = size_ - used_;
        if (held + count <= granted_to_each) return count <= free;
        return held + count + size_ / part_in_reserve <= free;
    }
    void take() noexcept { ++used_; }
    void give_back(std::uint32_t count) noexcept { used_ -= count; }
    [[nodiscard]] std::uint32_t used() const noexcept { return used_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

    // Returns true if half of the queue is used. From then on each request must be signaled.
    // Unsignaled requests complete with a later signaled one; if none is posted, they would keep
    // their credits from other queue pairs for ever.
    [[nodiscard]] bool scarce() const noexcept { return used_ >= size_ / 2; }

private:
    // connection::can_hold requests at most this many at once, and relies on getting them.
    static constexpr std::uint32_t granted_to_each = 2;
    static constexpr std::uint32_t part_in_reserve = 4;

    const std::uint32_t size_;
    std::uint32_t used_ = 0;
};

// The work requests of one send queue, by number. They complete in order, so the completion of one
// means that all before it are complete. Numbers wrap around. Value type.
class send_credits {
public:
    // `moderation`: one of so many requests is signaled. One entry is reserved for the last request
    // when the queue is drained.
    send_credits(std::uint32_t size, std::uint32_t moderation) noexcept
        : size_(size), moderation_(moderation) {}

    [[nodiscard]] bool any(std::uint32_t count = 1) const noexcept {
        return outstanding() + count < size_;
    }
    [[nodiscard]] bool last() const noexcept { return outstanding() < size_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept { return posted_ - completed_; }
    [[nodiscard]] std::uint32_t unsignaled() const noexcept { return unsignaled_; }
    // Returns how many requests end with completions that were requested. The others may have ended
    // unnoticed.
    [[nodiscard]] std::uint32_t awaited() const noexcept {
        return outstanding() > unsignaled_ ? outstanding() - unsignaled_ : 0;
    }

    // Returns true if the next request must be signaled: it is the last one that fits, or enough
    // unsignaled ones came before it.
    [[nodiscard]] bool must_signal() const noexcept {
        return unsignaled_ + 1 >= moderation_ || outstanding() + 2 >= size_;
    }

    // Returns the number of the request that is posted now.
    std::uint32_t post(bool signaled) noexcept {
        unsignaled_ = signaled ? 0 : unsignaled_ + 1;
        return ++posted_;
    }
    [[nodiscard]] std::uint32_t newest() const noexcept { return posted_; }
    [[nodiscard]] std::uint32_t next() const noexcept { return posted_ + 1; }
    // The device did not accept the request.
    void take_back(std::uint32_t unsignaled_before) noexcept {
        --posted_;
        unsignaled_ = unsignaled_before;
    }

    // Marks this request and all before it as complete. Returns how many of them were outstanding;
    // 0 if the number is impossible.
    std::uint32_t complete(std::uint32_t number) noexcept {
        const std::uint32_t fresh = number - completed_;
        if (fresh > outstanding()) return 0;
        completed_ = number;
        return fresh;
    }
    [[nodiscard]] bool is_complete(std::uint32_t number) const noexcept {
        return static_cast<std::int32_t>(number - completed_) <= 0;
    }

private:
    const std::uint32_t size_;
    const std::uint32_t moderation_;
    std::uint32_t posted_ = 0;
    std::uint32_t completed_ = 0;
    std::uint32_t unsignaled_ = 0;
};

}  // namespace uct::ib
