// How much a sender may send before the receiver says that it has room.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucp {

// Counts the eager messages to one worker. After each half of the window the receiver is asked;
// while it does not answer, no more than another half is sent, and from then on messages are
// announced, which takes no memory for their data. Value type.
class eager_budget {
public:
    // What every message costs beside its data: what the receiver keeps of it, see
    // ucp/tag/message.hpp.
    static constexpr std::size_t message_cost = 384;

    explicit eager_budget(std::size_t window) noexcept
        : left_(half_of(window)), half_(half_of(window)) {}

    // True: more than half of the window has been sent, see next_step.
    [[nodiscard]] bool spend(std::size_t length) noexcept {
        left_ -= static_cast<std::int64_t>(length + message_cost);
        return left_ < 0;
    }

    enum class step : std::uint8_t {
        ask,   // the receiver has to be asked
        hold,  // it has not answered yet: announce messages until it does
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

    // The receiver has no room to begin with: it is to be asked, and messages are announced until
    // it answers. False: so it was already.
    bool hold() noexcept {
        if (held_) return false;
        asked_ = held_ = true;
        return true;
    }

    // The receiver answered. True: messages had to be announced until now.
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
