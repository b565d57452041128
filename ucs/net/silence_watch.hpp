// Whether a peer that owes an answer has fallen silent.
#pragma once

#include "ucs/time/clock.hpp"

namespace ucs::net {

// Counts looks in a row at which something was unanswered and nothing had come since the look
// before. Looks are counted, not time: after a pause of this process there has been one look, and
// answers that wait in the kernel count. Value type; owner context.
class silence_watch {
public:
    // So many find a peer lost. The first look only notes that an answer is owed.
    static constexpr unsigned looks_needed = 4;

    // True: the peer is lost.
    bool look(bool owes, ucs::time::nanoseconds heard, ucs::time::nanoseconds now) noexcept {
        const bool silent = owes && looks_ > 0 && heard <= last_look_;
        looks_ = silent ? looks_ + 1 : (owes ? 1 : 0);
        last_look_ = now;
        return looks_ >= looks_needed;
    }

private:
    unsigned looks_ = 0;
    ucs::time::nanoseconds last_look_ = 0;
};

}  // namespace ucs::net
