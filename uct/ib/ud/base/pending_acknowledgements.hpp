// Connections of peers whose packets are not acknowledged yet, without any device.
#pragma once

#include "uct/ib/ud/base/receiver.hpp"

namespace uct::ud {

// An acknowledgement that is not urgent waits for a datagram to the peer, which carries it. Urgent
// ones have a list of their own, so that progress visits only these for each datagram. Receivers
// leave the lists when they are destroyed. Owner context.
class pending_acknowledgements {
public:
    // Records a packet that `to` has to acknowledge. If `at_once` is set, its sender waits for the
    // acknowledgement.
    void add(receiver& to, bool at_once) noexcept {
        ++to.unacknowledged;
        to.from().pending_ack = &to;
        const bool was_urgent = to.is_urgent;
        to.is_urgent = was_urgent || at_once || to.unacknowledged >= most_unacknowledged;
        if (to.is_urgent && !was_urgent) to.pending_ack_hook.unlink();
        if (!to.pending_ack_hook.is_linked()) (to.is_urgent ? urgent_ : others_).push_back(to);
    }
    // Returns the receiver that is acknowledged next, or nullptr.
    [[nodiscard]] receiver* next(bool urgent_only) noexcept {
        if (!urgent_.empty()) return &urgent_.front();
        return urgent_only || others_.empty() ? nullptr : &others_.front();
    }
    // Records that the acknowledgement was sent.
    static void settle(receiver& to) noexcept {
        to.unacknowledged = 0;
        to.is_urgent = false;
        to.pending_ack_hook.unlink();
        if (to.from().pending_ack == &to) to.from().pending_ack = nullptr;
    }
    [[nodiscard]] bool empty() const noexcept { return urgent_.empty() && others_.empty(); }

private:
    using pending_list = ucs::datastruct::auto_list<receiver, &receiver::pending_ack_hook>;

    // After so many packets the acknowledgement becomes urgent.
    static constexpr std::uint32_t most_unacknowledged = 16;

    pending_list urgent_;
    pending_list others_;
};

}  // namespace uct::ud
