// Packets between being accepted and being acknowledged.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/ib/ud/base/psn.hpp"
#include "uct/ib/ud/base/round_trip.hpp"

namespace uct::ud {

// What the window knows of a packet. What the packet is, is the owner's affair.
struct tx_packet {
    ucs::datastruct::list_hook hook;
    psn number;
    std::uint32_t sends = 0;
    ucs::time::nanoseconds first_sent_at = 0;
    ucs::time::nanoseconds sent_at = 0;
    bool arrived = false;  // out of order
    bool lost = false;     // has to be sent again
};
using packet_list = ucs::datastruct::list<tx_packet, &tx_packet::hook>;

// Numbers packets, says which one may go now, and takes acknowledgements. How many are under way
// at a time follows what the receiver can take: one more for each that is acknowledged, up to the
// size of the window, half as many after a loss (as in TCP). No clock and no network: time is
// handed in, and packets are sent by whoever asks. Value semantics of a plain object; packets are
// the caller's. Owner context.
class send_window {
public:
    struct limits {
        std::uint32_t size = 64;
        std::uint32_t first = 16;  // under way before anything is known
        round_trip::limits timer{};
    };
    send_window(const limits& with, psn first) noexcept;

    [[nodiscard]] bool has_room(std::uint32_t count) const noexcept {
        return held_ + count <= with_.size;
    }
    // What is added now is sent now.
    [[nodiscard]] bool flows() const noexcept {
        return unsent_ == 0 && lost_ == 0 && under_way_ < allowed_;
    }
    [[nodiscard]] bool empty() const noexcept { return held_ == 0; }
    [[nodiscard]] std::uint32_t held() const noexcept { return held_; }
    [[nodiscard]] std::uint32_t under_way() const noexcept { return under_way_; }
    [[nodiscard]] std::uint32_t allowed() const noexcept { return allowed_; }
    [[nodiscard]] const round_trip& timer() const noexcept { return timer_; }
    // The oldest that is not acknowledged, and the number of the next that is added.
    [[nodiscard]] psn oldest() const noexcept { return next_ + (0U - held_); }
    [[nodiscard]] psn next() const noexcept { return next_; }
    [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }

    void add(tx_packet& fresh) noexcept;
    // The packet that may be sent now, lost ones first; nullptr: none.
    [[nodiscard]] tx_packet* to_send() noexcept;
    // It was sent.
    void sent(tx_packet& which, ucs::time::nanoseconds now) noexcept;
    // The last one that may go before an acknowledgement has to come.
    [[nodiscard]] bool is_last_allowed() const noexcept {
        return under_way_ + 1 >= allowed_ || held_ == with_.size;
    }

    // `expected` has not arrived, all before it have; of those behind it, the ones whose bit is set
    // (the lowest bit is of expected + 1). What is acknowledged goes to `done`, in order. False: it
    // is about packets that were never sent, or of the past, and changed nothing.
    bool acknowledge(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                     packet_list& done) noexcept;

    // Since when the peer may have packets that it has not acknowledged; 0: it has none.
    [[nodiscard]] ucs::time::nanoseconds sent_since() const noexcept {
        return held_ == unsent_ ? 0 : packets_.front().first_sent_at;
    }

    // When all that is under way counts as lost; 0: never.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept {
        return under_way_ == 0 ? 0 : waiting_since_ + timer_.timeout();
    }
    // The deadline has passed.
    void expired() noexcept;
    // The receiver has forgotten what arrived: everything has to be sent again.
    void start_over() noexcept;

    // Answers to other things than packets count for the timer as well.
    void answered() noexcept { timer_.answered(); }
    void unanswered() noexcept { timer_.expired(); }

    // Every packet, in order.
    [[nodiscard]] packet_list& packets() noexcept { return packets_; }
    // Another one takes the place of `old`, with its number.
    void replace(tx_packet& old, tx_packet& by) noexcept;
    // Hands everything out, in order; numbers go on behind.
    void abandon(packet_list& into) noexcept;

private:
    void lose_all() noexcept;
    void shrink() noexcept;
    void wait_for_first() noexcept;
    void take_beyond(std::uint64_t beyond) noexcept;
    void find_lost(ucs::time::nanoseconds now) noexcept;

    const limits with_;
    round_trip timer_;
    packet_list packets_;
    psn next_;
    std::uint32_t held_ = 0;
    std::uint32_t forgiven_ = 0;  // of the oldest: their losses have shrunk the window already
    std::uint32_t unsent_ = 0;    // at the end of the list
    std::uint32_t under_way_ = 0;
    std::uint32_t lost_ = 0;
    std::uint32_t allowed_;
    std::uint32_t slow_from_;
    std::uint32_t grown_ = 0;  // acknowledgements towards the next step
    ucs::time::nanoseconds waiting_since_ = 0;
    std::uint64_t repeated_ = 0;
};

}  // namespace uct::ud
