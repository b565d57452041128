#include "uct/ib/ud/base/sender.hpp"

#include <array>

namespace uct::ud {
namespace {

// After so many expired timers in a row the peer is asked whether it still has the connection.
constexpr unsigned timers_until_check = 3;
// Elapsed time alone does not make a peer silent: this process may not have made progress
// meanwhile.
constexpr unsigned least_unanswered = 4;
// A goodbye only spares the peer its own timeout.
constexpr unsigned most_goodbyes = 5;

}  // namespace

sender::sender(const setup& with) noexcept
    : window(with.window, with.first), timeout_(with.timeout) {}

void sender::start() noexcept {
    if (state_ != state::idle) return;
    state_ = state::connecting;
    ask(wire::kind::request);
}

void sender::close() noexcept {
    closing_ = true;
    if (state_ == state::idle) state_ = state::closed;
    if (state_ == state::connected && window.empty()) ask(wire::kind::goodbye);
}

void sender::check() noexcept {
    if (state_ == state::connected && !request_ && window.empty()) ask(wire::kind::request);
}

void sender::ask(wire::kind type) noexcept {
    request_ = type;
    ++request_number_;
    request_oldest_ = window.oldest();
    requested_at_ = 0;
}

std::optional<sender::request> sender::pending_request() const noexcept {
    if (!request_ || requested_at_ != 0 || is_ended()) return std::nullopt;
    return request{*request_, request_oldest_, request_number_};
}

void sender::request_sent(ucs::time::nanoseconds now) noexcept {
    requested_at_ = now;
    wait_from(now);
}

void sender::note_sent(tx_packet& note_sent, ucs::time::nanoseconds now) noexcept {
    window.note_sent(note_sent, now);
    wait_from(now);
}

void sender::wait_from(ucs::time::nanoseconds now) noexcept {
    if (silent_since_ == 0) silent_since_ = now;
}

void sender::heard(ucs::time::nanoseconds now) noexcept {
    expired_timers_ = 0;
    const bool waits = request_ || window.under_way() > 0;
    silent_since_ = waits ? now : 0;
}

void sender::request_done() noexcept {
    request_.reset();
    requested_at_ = 0;
    window.timer.reset_backoff();
}

void sender::on_reply(const wire::welcome& welcome, psn expected, ucs::time::nanoseconds now,
                      packet_list& done) noexcept {
    if (!request_ || *request_ == wire::kind::goodbye || welcome.request_number != request_number_)
        return;
    const bool was_connected = state_ == state::connected;
    const bool forgotten = was_connected && welcome.connection != remote_;
    if (forgotten && is_repetition_unsafe(now)) return fail(UCS_ERR_ENDPOINT_TIMEOUT);
    // The expected number must be the oldest unacknowledged one at the time of the request, or a
    // later one.
    const psn least = forgotten ? window.oldest() : request_oldest_;
    const bool possible = expected - least >= 0 && expected - window.next() <= 0;
    request_done();
    remote_ = welcome.connection;
    state_ = state::connected;
    if (!possible) {
        resync();
    } else {
        if (!was_connected || forgotten) window.start_over();
        window.acknowledge(expected, 0, now, done);
    }
    heard(now);
    if (closing_ && state_ == state::connected && window.empty()) ask(wire::kind::goodbye);
}

void sender::on_acknowledge(psn expected, std::uint64_t beyond, ucs::time::nanoseconds now,
                            packet_list& done) noexcept {
    if (state_ != state::connected) return;
    window.acknowledge(expected, beyond, now, done);
    heard(now);
    if (closing_ && window.empty() && request_ != wire::kind::goodbye) ask(wire::kind::goodbye);
}

void sender::on_refuse(psn expected, ucs::time::nanoseconds now) noexcept {
    if (state_ != state::connected) return;
    heard(now);
    if (expected - window.oldest() >= 0 && expected - window.next() <= 0) return;
    // The refusal may be late and its number outdated, so the peer's reply to a request decides. A
    // needless resync would deliver packets in flight twice.
    if (!request_) ask(wire::kind::request);
}

void sender::on_unknown(std::uint64_t id, ucs::time::nanoseconds now) noexcept {
    if (id != remote_ || state_ != state::connected) return;
    if (request_ == wire::kind::goodbye) {
        state_ = state::closed;
        return;
    }
    if (is_repetition_unsafe(now)) return fail(UCS_ERR_ENDPOINT_TIMEOUT);
    heard(now);
    resync();
}

// The peer removes a connection after a silence of twice the timeout of this side. So packets that
// were sent since then reached no receiver and may be repeated. Packets that were sent before may
// have been delivered, with their acknowledgement lost while this process made no progress. Returns
// true if there may be such packets.
bool sender::is_repetition_unsafe(ucs::time::nanoseconds now) const noexcept {
    return window.sent_since() != 0 && now - window.sent_since() >= timeout_;
}

void sender::resync() noexcept {
    state_ = state::resyncing;
    ++resyncs_;
    ask(wire::kind::resync);
}

ucs::time::nanoseconds sender::deadline() const noexcept {
    if (is_ended()) return 0;
    const ucs::time::nanoseconds packet_deadline =
        state_ == state::connected ? window.deadline() : 0;
    if (requested_at_ == 0) return packet_deadline;
    const ucs::time::nanoseconds request_deadline = requested_at_ + window.timer.timeout();
    return packet_deadline == 0 ? request_deadline : std::min(packet_deadline, request_deadline);
}

void sender::on_time(ucs::time::nanoseconds now) noexcept {
    if (deadline() == 0 || now < deadline()) return;
    ++expired_timers_;
    const ucs::time::nanoseconds packet_deadline =
        state_ == state::connected ? window.deadline() : 0;
    const bool is_request_late =
        requested_at_ != 0 && now >= requested_at_ + window.timer.timeout();
    if (packet_deadline != 0 && now >= packet_deadline) {
        window.expired();
    } else {
        window.timer.increase_backoff();
    }
    if (is_request_late) requested_at_ = 0;
    if (request_ == wire::kind::goodbye && expired_timers_ >= most_goodbyes) {
        state_ = state::closed;
    } else if (expired_timers_ >= least_unanswered && now - silent_since_ >= timeout_) {
        fail(UCS_ERR_ENDPOINT_TIMEOUT);
    } else if (expired_timers_ >= timers_until_check && !request_) {
        ask(wire::kind::request);
    }
}

void sender::fail(ucs_status_t status) noexcept {
    if (is_ended()) return;
    state_ = state::failed;
    error_ = status;
    request_.reset();
}

const char* name(sender::state value) noexcept {
    static constexpr std::array names{"idle",      "connecting", "connected",
                                      "resyncing", "closed",     "failed"};
    static_assert(names.size() == static_cast<std::size_t>(sender::state::failed) + 1);
    return names[static_cast<std::size_t>(value)];
}

}  // namespace uct::ud
