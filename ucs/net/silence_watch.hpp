// Detects a peer that owes a reply and has fallen silent.
#pragma once

#include "ucs/time/clock.hpp"

namespace ucs::net {

// Counts consecutive checks at which a reply was outstanding and nothing had arrived since the
// previous check. It counts checks rather than time: a pause of this process adds only one check,
// and replies that wait in the kernel count as received. Value type; owner context.
class silence_watch {
public:
    // The number of checks after which a peer counts as lost. The first check only records that a
    // reply is outstanding.
    static constexpr unsigned checks_needed = 4;

    // Returns true if the peer is lost.
    bool check(bool owes_reply, ucs::time::nanoseconds last_heard,
               ucs::time::nanoseconds now) noexcept {
        const bool silent = owes_reply && checks_ > 0 && last_heard <= last_check_;
        checks_ = silent ? checks_ + 1 : (owes_reply ? 1 : 0);
        last_check_ = now;
        return checks_ >= checks_needed;
    }

private:
    unsigned checks_ = 0;
    ucs::time::nanoseconds last_check_ = 0;
};

}  // namespace ucs::net
