#include "uct/ib/ud/base/send_window.hpp"

namespace uct::ud {
namespace {

constexpr std::uint32_t least_allowed = 2;
// So many later ones that arrived say that one is lost and not only late.
constexpr unsigned overtakers = 3;
constexpr unsigned mask_bits = 64;

}  // namespace

send_window::send_window(const limits& with, psn first) noexcept
    : with_(with),
      timer_(with.timer),
      next_(first),
      allowed_(std::min(with.first, with.size)),
      slow_from_(with.size) {}

void send_window::add(tx_packet& fresh) noexcept {
    fresh.number = next_;
    fresh.sends = 0;
    fresh.arrived = fresh.lost = false;
    packets_.push_back(fresh);
    ++next_;
    ++held_;
    ++unsent_;
}

tx_packet* send_window::to_send() noexcept {
    if (under_way_ >= allowed_) return nullptr;
    if (lost_ > 0) {
        for (tx_packet& each : packets_) {
            if (each.lost) return &each;
        }
    }
    if (unsent_ == 0) return nullptr;
    // Most often all have gone but the last.
    auto at = packets_.end();
    for (std::uint32_t i = 0; i < unsent_; ++i)
        --at;
    return &*at;
}

void send_window::sent(tx_packet& which, ucs::time::nanoseconds now) noexcept {
    if (which.lost) {
        which.lost = false;
        --lost_;
        ++repeated_;
    } else {
        --unsent_;
    }
    if (under_way_ == 0) waiting_since_ = now;
    ++under_way_;
    if (which.sends++ == 0) which.first_sent_at = now;
    which.sent_at = now;
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
        // Which of several copies was acknowledged is not known (Karn's rule).
        if (first.sends == 1 && !first.arrived) timer_.measured(now - first.sent_at);
        done.push_back(first);
    }
    if (fresh > 0) {
        forgiven_ -= std::min(forgiven_, static_cast<std::uint32_t>(fresh));
        wait_for_first();
        waiting_since_ = now;
        timer_.answered();
        grown_ += static_cast<std::uint32_t>(fresh);
        // Twice as many each round trip at first, later one more.
        if (allowed_ < slow_from_) {
            allowed_ = std::min(allowed_ + grown_, with_.size);
            grown_ = 0;
        } else if (grown_ >= allowed_) {
            allowed_ = std::min(allowed_ + 1, with_.size);
            grown_ = 0;
        }
    }
    if (beyond != 0) {
        take_beyond(beyond);
        find_lost(now);
    }
    return true;
}

// A packet that is expected now although it was said to be there: its turn comes while the peer
// delivers what was before it. If it never does, the timer has to run.
void send_window::wait_for_first() noexcept {
    if (packets_.empty() || !packets_.front().arrived) return;
    packets_.front().arrived = false;
    ++under_way_;
}

// The first in the list is the expected one.
void send_window::take_beyond(std::uint64_t beyond) noexcept {
    auto at = packets_.begin();
    for (unsigned bit = 0; bit < mask_bits && at != packets_.end(); ++bit) {
        if (++at == packets_.end()) return;
        if ((beyond >> bit & 1U) == 0 || at->arrived || at->sends == 0) continue;
        at->arrived = true;
        if (at->lost) {
            at->lost = false;
            --lost_;
        } else {
            --under_way_;
        }
    }
}

void send_window::find_lost(ucs::time::nanoseconds now) noexcept {
    unsigned later = 0;
    for (auto at = packets_.rbegin(); at != packets_.rend(); ++at) {
        if (at->arrived) {
            ++later;
            continue;
        }
        // One that was sent again just now has not had the time to arrive.
        const bool recent = at->sends > 1 && now - at->sent_at < timer_.smoothed();
        if (later < overtakers || at->lost || at->sends == 0 || recent) continue;
        at->lost = true;
        ++lost_;
        --under_way_;
        if (static_cast<std::uint32_t>(at->number - oldest()) >= forgiven_) shrink();
    }
}

void send_window::shrink() noexcept {
    forgiven_ = held_;
    allowed_ = std::max(allowed_ / 2, std::min(least_allowed, with_.size));
    slow_from_ = allowed_;
    grown_ = 0;
}

void send_window::expired() noexcept {
    lose_all();
    timer_.expired();
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

void send_window::replace(tx_packet& old, tx_packet& by) noexcept {
    by.number = old.number;
    by.sends = old.sends;
    by.first_sent_at = old.first_sent_at;
    by.sent_at = old.sent_at;
    by.arrived = old.arrived;
    by.lost = old.lost;
    packets_.insert(packets_.iterator_to(old), by);
    packets_.erase(packets_.iterator_to(old));
}

void send_window::abandon(packet_list& into) noexcept {
    into.splice(into.end(), packets_);
    held_ = forgiven_ = unsent_ = under_way_ = lost_ = 0;
}

}  // namespace uct::ud
