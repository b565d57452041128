// Sender's eager window: how much may be sent before the receiver grants more credits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucp {

// Counts the eager messages to one worker. After each half of the window the sender requests
// credits. Until they are granted, it sends at most another half eagerly. After that it sends each
// message by rendezvous, which needs no memory for data at the receiver. Value type.
class eager_budget {
public:
    // Cost of a message in addition to its data: the memory that the receiver needs to store it,
    // see ucp/tag/message.hpp.
    static constexpr std::size_t message_cost = 384;

    explicit eager_budget(std::size_t window) noexcept
        : left_(half_of(window)), half_(half_of(window)) {}

    // Returns true if more than half of the window has been sent; then call next_step.
    [[nodiscard]] bool spend(std::size_t length) noexcept {
        left_ -= static_cast<std::int64_t>(length + message_cost);
        return left_ < 0;
    }

    enum class step : std::uint8_t {
        ask,   // send a request for credits
        hold,  // credits are not granted yet: send by rendezvous until they are
    };
    [[nodiscard]] step next_step() noexcept {
        if (asked_) {
            held_ = true;
            return step::hold;
        }
        asked_ = true;
        left_ += half_;
        return step::ask;
    }

    // Used when the receiver has no credits to give from the start. The sender must request them,
    // and sends by rendezvous until they are granted. Returns false if it was in this state
    // already.
    bool hold() noexcept {
        if (held_) return false;
        asked_ = held_ = true;
        return true;
    }

    // Call when the receiver grants credits. Returns true if messages were sent by rendezvous until
    // now.
    bool answered() noexcept {
        if (!asked_) return false;
        asked_ = false;
        const bool was_held = held_;
        held_ = false;
        if (was_held) left_ = half_;
        return was_held;
    }

    [[nodiscard]] bool asked() const noexcept { return asked_; }
    [[nodiscard]] bool held() const noexcept { return held_; }

private:
    static std::int64_t half_of(std::size_t window) noexcept {
        constexpr std::size_t endless = std::size_t{1} << 60;
        return static_cast<std::int64_t>((window < endless ? window : endless) / 2);
    }

    std::int64_t left_;
    std::int64_t half_;
    bool asked_ = false;
    bool held_ = false;
};

}  // namespace ucp
