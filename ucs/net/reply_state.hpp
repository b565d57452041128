// The liveness of a TCP peer: what the kernel knows of it (outstanding replies, the time when it
// was last heard, received bytes), and how long it has been silent.
#pragma once

#include <cstdint>

#include "ucs/time/clock.hpp"

struct tcp_info;

namespace ucs::net {

struct reply_state {
    bool is_reply_due = false;         // the peer's host owes an acknowledgement
    time::nanoseconds last_heard = 0;  // time of the last packet from the peer
};
[[nodiscard]] reply_state reply_state_in(const tcp_info& info, bool unsent,
                                         time::nanoseconds now) noexcept;
// If the socket is not a TCP socket, no reply is outstanding.
[[nodiscard]] reply_state reply_state_of(int fd, time::nanoseconds now) noexcept;

// Returns the bytes of data that the kernel has received over this TCP socket; 0 if the kernel does
// not report them. One system call. Any thread.
[[nodiscard]] std::uint64_t received_bytes(int fd) noexcept;

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
