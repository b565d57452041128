// How many messages a sender may have at a receiver that has not said that it goes on.
#pragma once

#include <cstdint>
#include <utility>

namespace uct::rc {

// Bits that a message carries about the flow of messages.
enum flow_bits : std::uint8_t {
    flow_nothing = 0,
    flow_soft_request = 1U << 0,  // grant me a new window with your next message to me
    flow_hard_request = 1U << 1,  // grant me one now
    flow_grant = 1U << 2,         // your window is full again
};
inline constexpr std::uint8_t all_flow_bits = flow_soft_request | flow_hard_request | flow_grant;

// Both directions of one endpoint. A receiver that shares its buffers among all senders cannot be
// filled by one of them: it sends a bounded number of messages ahead of the receiver's progress.
// Asking happens in messages that go anyway: softly first, so that the answer may go with a message
// of the other side, and at last with a demand for an answer of its own.
//
// A grant fills the window again while messages that were sent after the question are under way. So
// there may be less than the window and its soft part together (768 by default), or, where a demand
// was answered, than the window and its hard part (640). A window is granted once: a demand behind
// a soft question that was answered is of a sender that had not heard yet. Value type.
//
//   sender:    open --soft left--> asks --hard left--> demands --0 left--> closed
//              from any of them: a grant --> open
class flow_window {
public:
    struct limits {
        std::uint32_t size = 512;
        std::uint32_t soft = 256;  // asks softly when so many are left
        std::uint32_t hard = 128;  // demands
    };

    // A size of 0: without bounds.
    explicit flow_window(const limits& with) noexcept : with_(with), left_(with.size) {}

    [[nodiscard]] bool open() const noexcept { return left_ > 0 || with_.size == 0; }
    [[nodiscard]] std::uint32_t left() const noexcept { return left_; }

    // Of a message that is about to go.
    [[nodiscard]] std::uint8_t bits_of_next() const noexcept {
        std::uint8_t bits = owes_ ? flow_grant : flow_nothing;
        if (with_.size == 0) return bits;
        if (left_ == with_.hard) return bits | flow_hard_request;
        if (left_ == with_.soft) bits |= flow_soft_request;
        return bits;
    }
    // It went.
    void sent() noexcept {
        if (with_.size != 0) --left_;
        granted();
    }
    // The grant went by itself. The next one waits until this one is acknowledged: a peer that
    // demands grants and receives none would otherwise have one more under way for each demand.
    void granted_alone() noexcept {
        granted();
        grant_under_way_ = true;
    }
    void grant_acknowledged() noexcept { grant_under_way_ = false; }
    [[nodiscard]] bool has_grant_under_way() const noexcept { return grant_under_way_; }

    // A message arrived. True: a grant is to be sent now.
    [[nodiscard]] bool arrived(std::uint8_t bits) noexcept {
        if ((bits & flow_grant) != 0) left_ = with_.size;
        const bool demands = (bits & flow_hard_request) != 0;
        if (demands || (bits & flow_soft_request) != 0) {
            const bool answered = std::exchange(answered_softly_, false) && demands;
            owes_ = owes_ || !answered;
            demanded_ = demanded_ || (demands && !answered);
        }
        return owes_now();
    }
    // A grant is to be sent now, and has not been.
    [[nodiscard]] bool owes_now() const noexcept { return demanded_ && !grant_under_way_; }

private:
    // A grant went, with a message or by itself.
    void granted() noexcept {
        answered_softly_ = answered_softly_ || (owes_ && !demanded_);
        owes_ = demanded_ = false;
    }

    const limits with_;
    std::uint32_t left_;
    bool owes_ = false;
    bool demanded_ = false;
    bool answered_softly_ = false;  // the last question
    bool grant_under_way_ = false;  // by itself
};

}  // namespace uct::rc
