// Which connections of peers are owed an acknowledgement, without any device.
#pragma once

#include "uct/ib/ud/base/receiver.hpp"

namespace uct::ud {

// An acknowledgement that is not urgent waits for a datagram to the peer, which takes it with it.
// Urgent ones have a list of their own, so that each datagram costs a look at these alone.
// Receivers leave the lists when they are destroyed. Owner context.
class owed_acknowledgements {
public:
    // Notes a packet that `to` has to acknowledge. `at_once`: its sender waits for that.
    void add(receiver& to, bool at_once) noexcept {
        ++to.unacknowledged;
        to.from().owed = &to;
        const bool was_urgent = to.is_urgent;
        to.is_urgent = was_urgent || at_once || to.unacknowledged >= most_unacknowledged;
        if (to.is_urgent && !was_urgent) to.owed_hook.unlink();
        if (!to.owed_hook.is_linked()) (to.is_urgent ? urgent_ : others_).push_back(to);
    }
    // Returns whose acknowledgement is to be sent next, or nullptr.
    [[nodiscard]] receiver* next(bool urgent_only) noexcept {
        if (!urgent_.empty()) return &urgent_.front();
        return urgent_only || others_.empty() ? nullptr : &others_.front();
    }
    // Notes that the acknowledgement was sent.
    static void settle(receiver& to) noexcept {
        to.unacknowledged = 0;
        to.is_urgent = false;
        to.owed_hook.unlink();
        if (to.from().owed == &to) to.from().owed = nullptr;
    }
    [[nodiscard]] bool empty() const noexcept { return urgent_.empty() && others_.empty(); }

private:
    using owed_list = ucs::datastruct::auto_list<receiver, &receiver::owed_hook>;

    // So many packets are acknowledged at once while more come in.
    static constexpr std::uint32_t most_unacknowledged = 16;

    owed_list urgent_;
    owed_list others_;
};

}  // namespace uct::ud
