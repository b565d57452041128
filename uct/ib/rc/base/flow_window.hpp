// Flow control: how many messages a sender may have in flight until the receiver grants more.
#pragma once

#include <cstdint>
#include <utility>

namespace uct::rc {

// Flow control bits of a message.
enum flow_bits : std::uint8_t {
    flow_nothing = 0,
    flow_soft_request = 1U << 0,  // asks for a new window with the receiver's next message
    flow_hard_request = 1U << 1,  // asks for a new window at once
    flow_grant = 1U << 2,         // grants a full window
};
inline constexpr std::uint8_t all_flow_bits = flow_soft_request | flow_hard_request | flow_grant;

// The windows of both directions of one endpoint. A receiver shares its buffers among all senders,
// so each sender may send only a bounded number of messages ahead of the receiver's progress.
// Requests for a new window are bits of ordinary messages: first a soft request, so that the grant
// can be part of a message of the other side, and finally a hard request, which demands a grant of
// its own.
//
// A grant fills the window again while messages that were sent after the request are in flight. So
// there may be fewer than the window and its soft part together (768 by default), or, after a hard
// request, than the window and its hard part (640). A window is granted once: a hard request after
// a granted soft one comes from a sender that has not received the grant yet. Value type.
//
//   sender:    open --soft left--> asks --hard left--> demands --0 left--> closed
//              from any of them: a grant --> open
class flow_window {
public:
    struct limits {
        std::uint32_t size = 512;
        std::uint32_t soft = 256;  // soft request when so many are left
        std::uint32_t hard = 128;  // hard request when so many are left
    };

    // A size of 0 means no limit.
    explicit flow_window(const limits& with) noexcept : with_(with), left_(with.size) {}

    [[nodiscard]] bool open() const noexcept { return left_ > 0 || with_.size == 0; }
    [[nodiscard]] std::uint32_t left() const noexcept { return left_; }

    // Returns the bits of the message that is sent next.
    [[nodiscard]] std::uint8_t bits_of_next() const noexcept {
        std::uint8_t bits = grant_due_ ? flow_grant : flow_nothing;
        if (with_.size == 0) return bits;
        if (left_ == with_.hard) return bits | flow_hard_request;
        if (left_ == with_.soft) bits |= flow_soft_request;
        return bits;
    }
    // Records that the message was sent.
    void sent() noexcept {
        if (with_.size != 0) --left_;
        granted();
    }
    // Records that the grant was a message of its own. The next one waits until this one is
    // acknowledged: otherwise a peer that demands grants and receives none would get one more in
    // flight for each demand.
    void granted_alone() noexcept {
        granted();
        grant_under_way_ = true;
    }
    void grant_acknowledged() noexcept { grant_under_way_ = false; }
    [[nodiscard]] bool has_grant_under_way() const noexcept { return grant_under_way_; }

    // Records that a message arrived. Returns true if a grant must be sent now.
    [[nodiscard]] bool arrived(std::uint8_t bits) noexcept {
        if ((bits & flow_grant) != 0) left_ = with_.size;
        const bool demands = (bits & flow_hard_request) != 0;
        if (demands || (bits & flow_soft_request) != 0) {
            const bool answered = std::exchange(granted_softly_, false) && demands;
            grant_due_ = grant_due_ || !answered;
            grant_demanded_ = grant_demanded_ || (demands && !answered);
        }
        return must_grant_now();
    }
    // Returns true if a grant must be sent now.
    [[nodiscard]] bool must_grant_now() const noexcept {
        return grant_demanded_ && !grant_under_way_;
    }

private:
    // Records that a grant was sent, with a message or on its own.
    void granted() noexcept {
        granted_softly_ = granted_softly_ || (grant_due_ && !grant_demanded_);
        grant_due_ = grant_demanded_ = false;
    }

    const limits with_;
    std::uint32_t left_;
    bool grant_due_ = false;
    bool grant_demanded_ = false;
    bool granted_softly_ = false;   // the last soft request was granted
    bool grant_under_way_ = false;  // a grant that is a message of its own
};

}  // namespace uct::rc
