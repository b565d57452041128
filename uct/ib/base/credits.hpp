// How much work may be posted: room in send queues and completion queues, as plain counters.
#pragma once

#include <cstdint>

namespace uct::ib {

// Room in a completion queue that several send queues share. Every work request that was posted and
// is not known to be complete counts, with a completion asked for or without: when its queue pair
// fails, each of them has one. So the queue cannot overrun, whatever happens. Value type.
class completion_credits {
public:
    explicit completion_credits(std::uint32_t size) noexcept : size_(size) {}

    [[nodiscard]] bool any(std::uint32_t count = 1) const noexcept {
        return used_ + count <= size_;
    }
    // Says whether a queue pair may take `count` more while it waits for the completion of `held`.
    // It gets at most as many as are left beside the reserve: this is the dynamic threshold of
    // Choudhury and Hahne (IEEE/ACM Transactions on Networking, 1998). A peer that takes nothing
    // keeps the requests of its queue pair for ever, and so however much it is sent, some room is
    // left for the others. The reserve is for those that hold next to nothing, because each pair
    // that stands still makes the share of the next one smaller.
    [[nodiscard]] bool may_take(std::uint32_t held, std::uint32_t count = 1) const noexcept {
        const std::uint32_t free = size_ - used_;
        if (held + count <= granted_to_each) return count <= free;
        return held + count + size_ / part_in_reserve <= free;
    }
    void take() noexcept { ++used_; }
    void give_back(std::uint32_t count) noexcept { used_ -= count; }
    [[nodiscard]] std::uint32_t used() const noexcept { return used_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

    // Half of it is used: from here on every request has to ask for its completion. Requests that
    // do not are behind none that does as long as nobody posts more, and would keep their room
    // from other queue pairs for ever.
    [[nodiscard]] bool scarce() const noexcept { return used_ >= size_ / 2; }

private:
    // connection::can_hold asks for no more at once, and relies on getting it.
    static constexpr std::uint32_t granted_to_each = 2;
    static constexpr std::uint32_t part_in_reserve = 4;

    const std::uint32_t size_;
    std::uint32_t used_ = 0;
};

// One send queue: the numbers of its work requests. They complete in order, so the completion of
// one says that all before it are done. Numbers wrap. Value type.
class send_credits {
public:
    // `moderation`: every so many requests one asks for its completion. One place is kept back for
    // the last request of a queue that is emptied.
    send_credits(std::uint32_t size, std::uint32_t moderation) noexcept
        : size_(size), moderation_(moderation) {}

    [[nodiscard]] bool any(std::uint32_t count = 1) const noexcept {
        return outstanding() + count < size_;
    }
    [[nodiscard]] bool last() const noexcept { return outstanding() < size_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t outstanding() const noexcept { return posted_ - completed_; }
    [[nodiscard]] std::uint32_t unsignaled() const noexcept { return unsignaled_; }
    // How many end with completions that were asked for. The others may have ended unnoticed.
    [[nodiscard]] std::uint32_t awaited() const noexcept {
        return outstanding() > unsignaled_ ? outstanding() - unsignaled_ : 0;
    }

    // Whether the next request has to ask for its completion: it is the last that fits, or enough
    // went without.
    [[nodiscard]] bool must_signal() const noexcept {
        return unsignaled_ + 1 >= moderation_ || outstanding() + 2 >= size_;
    }

    // The number of a request that is posted now.
    std::uint32_t post(bool signaled) noexcept {
        unsignaled_ = signaled ? 0 : unsignaled_ + 1;
        return ++posted_;
    }
    [[nodiscard]] std::uint32_t newest() const noexcept { return posted_; }
    [[nodiscard]] std::uint32_t next() const noexcept { return posted_ + 1; }
    // The device did not take it.
    void take_back(std::uint32_t unsignaled_before) noexcept {
        --posted_;
        unsignaled_ = unsignaled_before;
    }

    // This one and all before it are complete. How many of them were not known to be; 0 for a
    // number that is impossible.
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
