#include "uct/ib/ud/base/sender.hpp"

namespace uct::ud {
namespace {

// After so many timers in a row the peer is asked whether it still knows the connection.
constexpr unsigned doubt = 3;
// Time alone does not make a peer silent: this process may not have looked meanwhile.
constexpr unsigned least_unanswered = 4;
// A goodbye only spares the peer to find out by itself.
constexpr unsigned most_goodbyes = 5;

}  // namespace

sender::sender(const setup& with) noexcept
    : patience_(with.patience), window_(with.window, with.first) {}

void sender::start() noexcept {
    if (at_ != state::idle) return;
    at_ = state::connecting;
    ask(wire::kind::request);
}

void sender::leave() noexcept {
    leaves_ = true;
    if (at_ == state::idle) at_ = state::closed;
    if (at_ == state::connected && window_.empty()) ask(wire::kind::goodbye);
}

void sender::check() noexcept {
    if (at_ == state::connected && !question_ && window_.empty()) ask(wire::kind::request);
}

void sender::ask(wire::kind what) noexcept {
    question_ = what;
    ++question_count_;
    asked_about_ = window_.oldest();
    asked_at_ = 0;
}

std::optional<sender::question> sender::to_ask() const noexcept {
    if (!question_ || asked_at_ != 0 || ended()) return std::nullopt;
    return question{*question_, asked_about_, question_count_};
}

void sender::asked(ucs::time::nanoseconds now) noexcept {
    asked_at_ = now;
    wait_from(now);
}

void sender::sent(tx_packet& which, ucs::time::nanoseconds now) noexcept {
    window_.sent(which, now);
    wait_from(now);
}

void sender::wait_from(ucs::time::nanoseconds now) noexcept {
    if (silent_since_ == 0) silent_since_ = now;
}

void sender::heard(ucs::time::nanoseconds now) noexcept {
    unanswered_ = 0;
    const bool waits = question_ || window_.under_way() > 0;
    silent_since_ = waits ? now : 0;
}

void sender::answered() noexcept {
    question_.reset();
    asked_at_ = 0;
    window_.answered();
}

void sender::welcomed(const wire::welcome& by, psn expected, ucs::time::nanoseconds now,
                      packet_list& done) noexcept {
    if (!question_ || *question_ == wire::kind::goodbye || by.question != question_count_) return;
    const bool was_connected = at_ == state::connected;
    const bool forgotten = was_connected && by.connection != remote_;
    if (forgotten && forgotten_too_late(now)) return fail(UCS_ERR_ENDPOINT_TIMEOUT);
    // What it expects now has to be what it had not acknowledged when it was asked, or later.
    const psn least = forgotten ? window_.oldest() : asked_about_;
    const bool possible = expected - least >= 0 && expected - window_.next() <= 0;
    answered();
    remote_ = by.connection;
    at_ = state::connected;
    if (!possible) {
        resync();
    } else {
        if (!was_connected || forgotten) window_.start_over();
        window_.acknowledge(expected, 0, now, done);
    }
    heard(now);
    if (leaves_ && at_ == state::connected && window_.empty()) ask(wire::kind::goodbye);
}

void sender::acknowledged(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                          packet_list& done) noexcept {
    if (at_ != state::connected) return;
    window_.acknowledge(expected, beyond, now, done);
    heard(now);
    if (leaves_ && window_.empty() && question_ != wire::kind::goodbye) ask(wire::kind::goodbye);
}

void sender::refused(psn expected, ucs::time::nanoseconds now) noexcept {
    if (at_ != state::connected) return;
    heard(now);
    if (expected - window_.oldest() >= 0 && expected - window_.next() <= 0) return;
    // It may be late, and the number one of the past; so the answer to a question decides. After a
    // resync for nothing packets that are on their way would be delivered twice.
    if (!question_) ask(wire::kind::request);
}

void sender::unknown(std::uint64_t id, ucs::time::nanoseconds now) noexcept {
    if (id != remote_ || at_ != state::connected) return;
    if (question_ == wire::kind::goodbye) {
        at_ = state::closed;
        return;
    }
    if (forgotten_too_late(now)) return fail(UCS_ERR_ENDPOINT_TIMEOUT);
    heard(now);
    resync();
}

// The peer forgets a connection when nothing has come for twice as long as this side is patient. So
// what was sent since then came to nobody and may be repeated; what was sent before may have been
// delivered, and only the acknowledgement was lost while this process did not look.
bool sender::forgotten_too_late(ucs::time::nanoseconds now) const noexcept {
    return window_.sent_since() != 0 && now - window_.sent_since() >= patience_;
}

void sender::resync() noexcept {
    at_ = state::resyncing;
    ++resyncs_;
    ask(wire::kind::resync);
}

ucs::time::nanoseconds sender::deadline() const noexcept {
    if (ended()) return 0;
    const ucs::time::nanoseconds of_packets = at_ == state::connected ? window_.deadline() : 0;
    if (asked_at_ == 0) return of_packets;
    const ucs::time::nanoseconds of_question = asked_at_ + window_.timer().timeout();
    return of_packets == 0 ? of_question : std::min(of_packets, of_question);
}

void sender::on_time(ucs::time::nanoseconds now) noexcept {
    if (deadline() == 0 || now < deadline()) return;
    ++unanswered_;
    const ucs::time::nanoseconds of_packets = at_ == state::connected ? window_.deadline() : 0;
    const bool question_late = asked_at_ != 0 && now >= asked_at_ + window_.timer().timeout();
    if (of_packets != 0 && now >= of_packets) {
        window_.expired();
    } else {
        window_.unanswered();
    }
    if (question_late) asked_at_ = 0;
    if (question_ == wire::kind::goodbye && unanswered_ >= most_goodbyes) {
        at_ = state::closed;
    } else if (unanswered_ >= least_unanswered && now - silent_since_ >= patience_) {
        fail(UCS_ERR_ENDPOINT_TIMEOUT);
    } else if (unanswered_ >= doubt && !question_) {
        ask(wire::kind::request);
    }
}

void sender::fail(ucs_status_t status) noexcept {
    if (ended()) return;
    at_ = state::failed;
    error_ = status;
    question_.reset();
}

const char* name(sender::state which) noexcept {
    switch (which) {
        case sender::state::idle:
            return "idle";
        case sender::state::connecting:
            return "connecting";
        case sender::state::connected:
            return "connected";
        case sender::state::resyncing:
            return "resyncing";
        case sender::state::closed:
            return "closed";
        case sender::state::failed:
            break;
    }
    return "failed";
}

}  // namespace uct::ud
