#include "ucg/oob/tcp/leaf.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/net/socket.hpp"

namespace ucg::oob {
namespace {

using wire::frame_kind;

// After this time the rank tries the next address if no connection is made, or if the peer sends
// nothing.
constexpr ucs::time::nanoseconds time_to_connect = 5 * ucs::time::second;
constexpr ucs::time::nanoseconds min_backoff = 10 * ucs::time::millisecond;
constexpr ucs::time::nanoseconds max_backoff = ucs::time::second;
// After this rank's deadline, the time for rank 0 to report the missing ranks.
constexpr ucs::time::nanoseconds reply_time = 3 * ucs::time::second;

}  // namespace

tcp_leaf::tcp_leaf(const rank_params& self, std::uint64_t job, root_address root,
                   ucs::unique_fd connected, const job_key& key)
    : exchange(self), job_(job), root_(std::move(root)), key_(key) {
    begin_handshake(std::move(connected));
}

tcp_leaf::tcp_leaf(const rank_params& self, std::uint64_t job, root_address root,
                   std::vector<ucs::net::socket_address> addresses, const job_key& key)
    : exchange(self),
      job_(job),
      root_(std::move(root)),
      key_(key),
      addresses_(std::move(addresses)) {}

tcp_leaf::~tcp_leaf() = default;

ucs_status_t tcp_leaf::start() {
    is_in_round_ = true;
    has_begun_ = is_sending_block_ = is_send_closed_ = has_reported_timeout_ = false;
    return UCS_OK;
}

ucs_status_t tcp_leaf::advance() {
    if (state_ != state::joined) {
        const ucs_status_t status = join();
        if (status != UCS_OK) return status;
    }
    const ucs_status_t status = progress_round();
    return status == UCS_INPROGRESS ? check_deadline() : status;
}

void tcp_leaf::finish(ucs_status_t status) noexcept {
    is_in_round_ = false;
    if (status == UCS_OK) {
        // Rank 0 has all blocks, including this one, so the frame is sent completely.
        if (link_ && is_sending_block_) link_->forget_body();
        is_sending_block_ = false;
        return;
    }
    link_.reset();
    connecting_.reset();
}

// Connects to rank 0. UCS_OK: rank 0 has accepted this rank.
ucs_status_t tcp_leaf::join() {
    ucs_status_t status = UCS_INPROGRESS;
    if (state_ == state::waiting && ucs::time::now() >= next_attempt_) connect();
    if (state_ == state::connecting) check_connection();
    if (state_ == state::handshake) status = handshake_ ? progress_handshake() : receive_welcome();
    if (status != UCS_INPROGRESS || !is_late()) return status;
    const std::string error = state_ == state::handshake ? "it does not answer"
                              : last_error_.empty()      ? "no connection yet"
                                                         : last_error_;
    const bool is_other = !last_silent_.empty() && last_silent_ != error;
    ucs::log::error(oob_log,
                    "round {}: rank {} did not reach rank 0 at {} within {} s ({}{}{}); see "
                    "whether it was started, and whether the port is open",
                    current().number, rank(), root_.text(), timeout_seconds(), error,
                    is_other ? "; " : "", is_other ? last_silent_ : std::string());
    return UCS_ERR_TIMED_OUT;
}

bool tcp_leaf::has_other_addresses() const noexcept {
    return addresses_.size() > 1;
}

// Tries the next address. Resolves the name again when all were tried.
void tcp_leaf::connect() {
    if (next_address_ >= addresses_.size()) {
        std::string error;
        addresses_ = root_.resolve(error);
        next_address_ = 0;
        if (addresses_.empty()) return retry_later(fmt::format("{}: {}", root_.host, error));
    }
    begin_connection(addresses_[next_address_++]);
}

void tcp_leaf::begin_connection(const ucs::net::socket_address& address) {
    connecting_ = ucs::net::open_stream(address.ip().family());
    if (!connecting_) return retry_later(std::strerror(errno));
    attempt_deadline_ = ucs::time::now() + time_to_connect;
    state_ = state::connecting;
    if (::connect(connecting_.get(), address.data(), address.size()) != 0 && errno != EINPROGRESS &&
        errno != EINTR)
        retry_later(fmt::format("{}: {}", address.text(), std::strerror(errno)));
}

void tcp_leaf::check_connection() {
    pollfd ready{connecting_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) {
        if (ucs::time::now() >= attempt_deadline_) retry_later("no answer");
        return;
    }
    if (const int error = ucs::net::connect_error(connecting_.get()); error != 0)
        return retry_later(std::strerror(error));
    begin_handshake(std::move(connecting_));
}

void tcp_leaf::begin_handshake(ucs::unique_fd socket) {
    link_.emplace(std::move(socket));
    handshake_.emplace(ucs::security::key_handshake::role::client, key_ ? &*key_ : nullptr,
                       store_purpose);
    state_ = state::handshake;
    attempt_deadline_ = ucs::time::now() + time_to_connect;
    static_cast<void>(ucs::net::advance(*handshake_, link_->fd()));
    // Without a job key the hello does not depend on the rest of the key handshake, and an early
    // hello tells a rank 0 that is about to end which rank is connected. With several addresses the
    // hello waits, because rank 0 takes the end of a connection after a hello for the end of the
    // rank.
    if (!key_ && !has_other_addresses()) send_hello();
}

void tcp_leaf::send_hello() {
    link_->put({frame_kind::hello, rank(), size(), job_});
    static_cast<void>(link_->flush());
}

ucs_status_t tcp_leaf::progress_handshake() {
    using ucs::security::handshake_failure;
    switch (ucs::net::advance(*handshake_, link_->fd())) {
        case ucs::security::key_handshake::step::incomplete:
            if (has_other_addresses() && ucs::time::now() >= attempt_deadline_)
                skip_silent_address();
            return UCS_INPROGRESS;
        case ucs::security::key_handshake::step::agreed:
            handshake_.reset();
            if (key_ || has_other_addresses()) send_hello();
            return receive_welcome();
        case ucs::security::key_handshake::step::failed:
            break;
    }
    const handshake_failure failure = handshake_->failure();
    if (failure == handshake_failure::foreign || failure == handshake_failure::interrupted) {
        // The listener is the ending rank 0 of an older job, or another program.
        retry_later(failure == handshake_failure::foreign ? "the listener there is not rank 0"
                                                          : explain(failure));
        return UCS_INPROGRESS;
    }
    ucs::log::error(oob_log, "rank {} cannot join rank 0 at {}: {}", rank(), root_.text(),
                    explain(failure));
    return UCS_ERR_REJECTED;
}

// Another user's program may listen at one of several addresses, and rank 0 at another one.
void tcp_leaf::skip_silent_address() {
    last_silent_ =
        fmt::format("the listener at {} sends nothing", addresses_[next_address_ - 1].text());
    retry_later(last_silent_);
}

ucs_status_t tcp_leaf::receive_welcome() {
    // If sending fails, receiving returns the reason.
    static_cast<void>(link_->flush());
    if (!link_->in_record()) {
        const ucs_status_t status = link_->read_header();
        if (status == UCS_INPROGRESS) return status;
        if (status != UCS_OK) {
            // The listener is the ending rank 0 of an older job, or another program.
            retry_later(status == UCS_ERR_INVALID_PARAM ? "the listener there is not rank 0"
                                                        : "it closed the connection");
            return UCS_INPROGRESS;
        }
    }
    if (link_->header().kind == frame_kind::failure) {
        wire::failure failure;
        const ucs_status_t status = link_->read_failure(failure, size());
        if (status == UCS_INPROGRESS) return status;
        if (status == UCS_OK && failure.status == UCS_ERR_REJECTED) {
            ucs::log::error(oob_log,
                            "rank 0 at {} refuses rank {} of {}: another one is there already, or "
                            "rank 0 has another number of ranks",
                            root_.text(), rank(), size());
            return failure.status;
        }
        // The round failed at rank 0 before this rank connected.
        if (status == UCS_OK && failure.status != UCS_ERR_BUSY && link_->header().job == job_)
            return log_reported_failure("rank 0", failure);
        retry_later("another job, or an older start of this one, has its rank 0 there");
        return UCS_INPROGRESS;
    }
    if (link_->header().kind != frame_kind::welcome) {
        retry_later("the listener there is not rank 0");
        return UCS_INPROGRESS;
    }
    static_cast<void>(link_->read_body({}));
    state_ = state::joined;
    return UCS_OK;
}

void tcp_leaf::retry_later(std::string error) {
    last_error_ = std::move(error);
    ucs::log::debug(oob_log, "rank {} does not reach rank 0 at {}: {}", rank(), root_.text(),
                    last_error_);
    connecting_.reset();
    link_.reset();
    handshake_.reset();
    state_ = state::waiting;
    if (next_address_ < addresses_.size()) return;  // try the next address at once
    backoff_ = std::clamp(2 * backoff_, min_backoff, max_backoff);
    next_attempt_ = ucs::time::now() + backoff_;
}

ucs_status_t tcp_leaf::progress_round() {
    if (!link_) return log_lost("sent nonsense");
    send_next();
    for (;;) {
        if (!link_->in_record()) {
            const ucs_status_t status = link_->read_header();
            if (status == UCS_INPROGRESS)
                return link_->is_silent() ? log_lost("does not answer any more") : status;
            if (status != UCS_OK)
                return log_lost(status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
        }
        if (link_->header().kind != frame_kind::reply) return receive_frame();
        const ucs_status_t status = receive_reply();
        if (status == UCS_INPROGRESS) return status;
        if (status != UCS_OK)
            return log_lost(status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
    }
}

// Sends control frames before the block of a round, so that publications made before a round are
// available when it ends. After a send error this rank still receives the frames that rank 0 sent
// before it closed the connection.
void tcp_leaf::send_next() {
    while (!is_send_closed_) {
        const ucs_status_t status = link_->flush();
        if (status == UCS_INPROGRESS) return;
        is_send_closed_ = status != UCS_OK;
        if (is_send_closed_) return;
        is_sending_block_ = false;
        if (std::exchange(is_sending_control_, false)) control_frames_.pop_front();
        if (!control_frames_.empty()) {
            is_sending_control_ = true;
            link_->put(control_frames_.front().head, control_frames_.front().content);
        } else if (is_in_round_ && !has_begun_) {
            has_begun_ = is_sending_block_ = true;
            link_->put(frame(frame_kind::block), block(rank()));
        } else {
            return;
        }
    }
}

ucs_status_t tcp_leaf::receive_frame() {
    const wire::header& header = link_->header();
    if (header.kind == frame_kind::failure) return receive_failure();
    if (header.kind != frame_kind::blocks || header.round != current().number || !has_begun_ ||
        is_sending_block_)
        return log_lost("sent what belongs to no round of ours");
    if (header.content != all_blocks().size()) {
        ucs::log::error(oob_log, "round {}: rank 0 has {} bytes for rank {}, which expects {}",
                        current().number, header.content, rank(), all_blocks().size());
        return UCS_ERR_INVALID_PARAM;
    }
    const ucs_status_t status = link_->read_body(all_blocks());
    return status == UCS_ERR_CONNECTION_RESET ? log_lost("died or left") : status;
}

ucs_status_t tcp_leaf::receive_failure() {
    wire::failure failure;
    const ucs_status_t status = link_->read_failure(failure, size());
    if (status == UCS_INPROGRESS) return status;
    if (status != UCS_OK)
        return log_lost(status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
    return log_reported_failure("rank 0", failure);
}

ucs_status_t tcp_leaf::check_deadline() {
    if (!is_late()) return UCS_INPROGRESS;
    if (!has_reported_timeout_) {
        has_reported_timeout_ = true;
        reply_deadline_ = ucs::time::now() + reply_time;
        // If the block was not sent, rank 0 is not in the round and will not reply.
        if (!has_begun_ || is_sending_block_ || is_send_closed_) reply_deadline_ = 0;
        if (reply_deadline_ != 0) {
            queue_frame(frame_kind::late, current().number);
            send_next();
        }
    }
    if (ucs::time::now() < reply_deadline_) return UCS_INPROGRESS;
    const rank_t root = 0;
    return log_timeout({&root, 1}, {});
}

ucs_status_t tcp_leaf::log_lost(const char* reason) {
    ucs::log::error(oob_log, "round {}: rank 0 at {} {}", current().number, root_.text(), reason);
    return UCS_ERR_CONNECTION_RESET;
}

}  // namespace ucg::oob
