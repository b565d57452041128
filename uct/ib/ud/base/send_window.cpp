#include "uct/ib/ud/base/send_window.hpp"

namespace uct::ud {
namespace {

constexpr std::uint32_t least_allowed = 2;
// If so many later packets have arrived, a packet is lost and not only late.
constexpr unsigned overtakers = 3;
constexpr unsigned mask_bits = 64;

}  // namespace

void congestion_window::shrink() noexcept {
    allowed_ = std::max(allowed_ / 2, std::min(least_allowed, most_));
    slow_from_ = allowed_;
    grown_ = 0;
}

send_window::send_window(const limits& with, psn first) noexcept
    : timer(with.timer), congestion(with.first, with.size), with_(with), next_(first) {}

void send_window::add(tx_packet& fresh) noexcept {
    fresh.number = next_;
    fresh.sends = 0;
    fresh.arrived = fresh.lost = false;
    packets_.push_back(fresh);
    ++next_;
    ++held_;
    ++unsent_;
}

tx_packet* send_window::next_to_send() noexcept {
    if (under_way_ >= congestion.allowed()) return nullptr;
    if (lost_ > 0) {
        for (tx_packet& each : packets_) {
            if (each.lost) return &each;
        }
    }
    if (unsent_ == 0) return nullptr;
    // Usually only the last packet is unsent.
    auto it = packets_.end();
    for (std::uint32_t i = 0; i < unsent_; ++i)
        --it;
    return &*it;
}

void send_window::note_sent(tx_packet& packet, ucs::time::nanoseconds now) noexcept {
    if (packet.lost) {
        packet.lost = false;
        --lost_;
        ++repeated_;
    } else {
        --unsent_;
    }
    if (under_way_ == 0) waiting_since_ = now;
    ++under_way_;
    if (packet.sends++ == 0) packet.first_sent_at = now;
    packet.sent_at = now;
}

bool send_window::acknowledge(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                              packet_list& done) noexcept {
    const std::int32_t fresh = expected - oldest();
    if (fresh < 0 || static_cast<std::uint32_t>(fresh) > held_ - unsent_) return false;
    for (std::int32_t i = 0; i < fresh; ++i) {
        tx_packet& first = packets_.front();
        packets_.pop_front();
        --held_;
        if (first.lost) {
            --lost_;
        } else if (!first.arrived) {
            --under_way_;
        }
        // If a packet was sent several times, the acknowledged copy is unknown (Karn's rule).
        if (first.sends == 1 && !first.arrived) timer.measured(now - first.sent_at);
        done.push_back(first);
    }
    if (fresh > 0) {
        forgiven_ -= std::min(forgiven_, static_cast<std::uint32_t>(fresh));
        wait_for_first();
        waiting_since_ = now;
        timer.reset_backoff();
        congestion.grow(static_cast<std::uint32_t>(fresh));
    }
    if (beyond != 0) {
        mark_arrived(beyond);
        find_lost(now);
    }
    return true;
}

// The peer has reported that the first packet arrived, and still expects it: it is delivering the
// packets before it. Counts the packet as in flight again, so that the timer runs in case the peer
// never delivers it.
void send_window::wait_for_first() noexcept {
    if (packets_.empty() || !packets_.front().arrived) return;
    packets_.front().arrived = false;
    ++under_way_;
}

// The first packet in the list is the expected one.
void send_window::mark_arrived(std::uint64_t beyond) noexcept {
    auto it = packets_.begin();
    for (unsigned bit = 0; bit < mask_bits && it != packets_.end(); ++bit) {
        if (++it == packets_.end()) return;
        if ((beyond >> bit & 1U) == 0 || it->arrived || it->sends == 0) continue;
        it->arrived = true;
        if (it->lost) {
            it->lost = false;
            --lost_;
        } else {
            --under_way_;
        }
    }
}

void send_window::find_lost(ucs::time::nanoseconds now) noexcept {
    unsigned later = 0;
    for (auto it = packets_.rbegin(); it != packets_.rend(); ++it) {
        if (it->arrived) {
            ++later;
            continue;
        }
        // A packet that was repeated just now has not had the time to arrive.
        const bool recent = it->sends > 1 && now - it->sent_at < timer.smoothed();
        if (later < overtakers || it->lost || it->sends == 0 || recent) continue;
        it->lost = true;
        ++lost_;
        --under_way_;
        if (static_cast<std::uint32_t>(it->number - oldest()) >= forgiven_) shrink();
    }
}

void send_window::shrink() noexcept {
    forgiven_ = held_;
    congestion.shrink();
}

void send_window::expired() noexcept {
    lose_all();
    timer.increase_backoff();
    shrink();
}

void send_window::start_over() noexcept {
    for (tx_packet& each : packets_) {
        if (!each.arrived) continue;
        each.arrived = false;
        ++under_way_;
    }
    lose_all();
}

void send_window::lose_all() noexcept {
    for (tx_packet& each : packets_) {
        if (each.sends == 0) break;
        if (each.arrived || each.lost) continue;
        each.lost = true;
        ++lost_;
    }
    under_way_ = 0;
}

void send_window::replace(tx_packet& old, tx_packet& replacement) noexcept {
    replacement.number = old.number;
    replacement.sends = old.sends;
    replacement.first_sent_at = old.first_sent_at;
    replacement.sent_at = old.sent_at;
    replacement.arrived = old.arrived;
    replacement.lost = old.lost;
    packets_.insert(packets_.iterator_to(old), replacement);
    packets_.erase(packets_.iterator_to(old));
}

void send_window::abandon(packet_list& into) noexcept {
    into.splice(into.end(), packets_);
    held_ = forgiven_ = unsent_ = under_way_ = lost_ = 0;
}

}  // namespace uct::ud
