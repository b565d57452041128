// Sender's eager window: how much may be sent before the receiver grants more credits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucp {

// Counts the eager messages to one worker. After each half of the window the sender requests
// credits. Until they are granted, it sends at most another half eagerly. After that it sends each
// message by rendezvous, which needs no memory for data at the receiver. Value type.
class eager_window {
public:
    // Cost of a message in addition to its data: the memory that the receiver needs to store it,
    // see ucp/tag/message.hpp.
    static constexpr std::size_t message_cost = 384;

    explicit eager_window(std::size_t window) noexcept
        : left_(half_of(window)), half_(half_of(window)) {}

    // Returns true if more than half of the window has been sent; then call next_step.
    [[nodiscard]] bool add_sent(std::size_t length) noexcept {
        left_ -= static_cast<std::int64_t>(length + message_cost);
        return left_ < 0;
    }

    enum class step : std::uint8_t {
        request_credits,  // send a request for credits
        use_rendezvous,   // credits are not granted yet: send by rendezvous until they are
    };
    [[nodiscard]] step next_step() noexcept {
        if (is_requested_) {
            uses_rendezvous_ = true;
            return step::use_rendezvous;
        }
        is_requested_ = true;
        left_ += half_;
        return step::request_credits;
    }

    // Used when the receiver has no credits to give from the start. The sender must request them,
    // and sends by rendezvous until they are granted. Returns false if it was in this state
    // already.
    bool begin_without_credits() noexcept {
        if (uses_rendezvous_) return false;
        is_requested_ = uses_rendezvous_ = true;
        return true;
    }

    // Call when the receiver grants credits. Returns true if messages were sent by rendezvous until
    // now.
    bool on_granted() noexcept {
        if (!is_requested_) return false;
        is_requested_ = false;
        const bool used_rendezvous = uses_rendezvous_;
        uses_rendezvous_ = false;
        if (used_rendezvous) left_ = half_;
        return used_rendezvous;
    }

    [[nodiscard]] bool is_requested() const noexcept { return is_requested_; }
    [[nodiscard]] bool uses_rendezvous() const noexcept { return uses_rendezvous_; }

private:
    static std::int64_t half_of(std::size_t window) noexcept {
        constexpr std::size_t endless = std::size_t{1} << 60;
        return static_cast<std::int64_t>((window < endless ? window : endless) / 2);
    }

    std::int64_t left_;
    std::int64_t half_;
    bool is_requested_ = false;
    bool uses_rendezvous_ = false;
};

}  // namespace ucp
