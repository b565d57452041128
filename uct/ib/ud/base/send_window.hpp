// Window of the sending side: packets that were accepted and are not acknowledged.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/ib/ud/base/psn.hpp"
#include "uct/ib/ud/base/round_trip.hpp"

namespace uct::ud {

// The window's data of a packet. The owner derives its packets from this.
struct tx_packet {
    ucs::datastruct::list_hook hook;
    psn number;
    std::uint32_t sends = 0;
    ucs::time::nanoseconds first_sent_at = 0;
    ucs::time::nanoseconds sent_at = 0;
    bool arrived = false;  // out of order
    bool lost = false;     // must be sent again
};
using packet_list = ucs::datastruct::list<tx_packet, &tx_packet::hook>;

// The number of packets that may be in flight. It follows what the receiver can take: it grows by
// one for each acknowledged packet, up to the size of the window, and halves after a loss (as in
// TCP). Value type.
class congestion_window {
public:
    congestion_window(std::uint32_t first, std::uint32_t most) noexcept
        : most_(most), allowed_(std::min(first, most)), slow_from_(most) {}

    [[nodiscard]] std::uint32_t allowed() const noexcept { return allowed_; }
    // So many packets were acknowledged. The window doubles each round trip at first, and later
    // grows by one.
    void grow(std::uint32_t fresh) noexcept {
        grown_ += fresh;
        if (allowed_ < slow_from_) {
            allowed_ = std::min(allowed_ + grown_, most_);
            grown_ = 0;
        } else if (grown_ >= allowed_) {
            allowed_ = std::min(allowed_ + 1, most_);
            grown_ = 0;
        }
    }
    // Packets were lost.
    void shrink() noexcept;

private:
    const std::uint32_t most_;
    std::uint32_t allowed_;
    std::uint32_t slow_from_;
    std::uint32_t grown_ = 0;  // acknowledgements towards the next step
};

// Numbers packets, selects the packet that may be sent next, and handles acknowledgements. The
// window has no clock and no network: the caller passes the time in, and sends the packets. Value
// semantics of a plain object; the caller owns the packets. Owner context.
class send_window {
public:
    struct limits {
        std::uint32_t size = 64;
        std::uint32_t first = 16;  // allowed in flight at first
        round_trip::limits timer{};
    };
    send_window(const limits& with, psn first) noexcept;

    [[nodiscard]] bool has_room(std::uint32_t count) const noexcept {
        return held_ + count <= with_.size;
    }
    // Returns true if a packet that is added now is sent at once.
    [[nodiscard]] bool can_send_now() const noexcept {
        return unsent_ == 0 && lost_ == 0 && under_way_ < congestion.allowed();
    }
    [[nodiscard]] bool empty() const noexcept { return held_ == 0; }
    [[nodiscard]] std::uint32_t held() const noexcept { return held_; }
    [[nodiscard]] std::uint32_t under_way() const noexcept { return under_way_; }
    // The oldest packet that is not acknowledged, and the number of the next packet that is added.
    [[nodiscard]] psn oldest() const noexcept { return next_ + (0U - held_); }
    [[nodiscard]] psn next() const noexcept { return next_; }
    [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }

    void add(tx_packet& fresh) noexcept;
    // Returns the packet that may be sent now, lost ones first, or nullptr.
    [[nodiscard]] tx_packet* next_to_send() noexcept;
    // Records that the packet was sent.
    void note_sent(tx_packet& packet, ucs::time::nanoseconds now) noexcept;
    // Returns true if no packet may follow the next one before an acknowledgement comes.
    [[nodiscard]] bool is_last_allowed() const noexcept {
        return under_way_ + 1 >= congestion.allowed() || held_ == with_.size;
    }

    // Handles an acknowledgement: all packets before `expected` have arrived, and also the packets
    // after it whose bit is set (the lowest bit stands for expected + 1). Acknowledged packets are
    // moved to `done`, in order. If the acknowledgement is old, or names packets that were never
    // sent, it changes nothing and this returns false.
    bool acknowledge(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                     packet_list& done) noexcept;

    // The time since when the peer may have packets that it has not acknowledged; 0: it has none.
    [[nodiscard]] ucs::time::nanoseconds sent_since() const noexcept {
        return held_ == unsent_ ? 0 : packets_.front().first_sent_at;
    }

    // The time when all packets in flight count as lost; 0: never.
    [[nodiscard]] ucs::time::nanoseconds deadline() const noexcept {
        return under_way_ == 0 ? 0 : waiting_since_ + timer.timeout();
    }
    // Must be called when the deadline has passed.
    void expired() noexcept;
    // The receiver has lost its state: all packets must be sent again.
    void start_over() noexcept;

    // All packets, in order.
    [[nodiscard]] packet_list& packets() noexcept { return packets_; }
    // Puts `replacement` in the place of `old`, with its number.
    void replace(tx_packet& old, tx_packet& replacement) noexcept;
    // Moves all packets to `into`, in order. The numbers continue after them.
    void abandon(packet_list& into) noexcept;

    round_trip timer;  // replies to other datagrams count, too
    congestion_window congestion;

private:
    void lose_all() noexcept;
    void shrink() noexcept;
    void wait_for_first() noexcept;
    void mark_arrived(std::uint64_t beyond) noexcept;
    void find_lost(ucs::time::nanoseconds now) noexcept;

    const limits with_;
    packet_list packets_;
    psn next_;
    std::uint32_t held_ = 0;
    std::uint32_t forgiven_ = 0;  // the oldest packets, whose losses have already halved the window
    std::uint32_t unsent_ = 0;    // they are at the end of the list
    std::uint32_t under_way_ = 0;
    std::uint32_t lost_ = 0;
    ucs::time::nanoseconds waiting_since_ = 0;
    std::uint64_t repeated_ = 0;
};

}  // namespace uct::ud
