#include "ucg/oob/tcp_leaf.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/sys/descriptor_budget.hpp"

namespace ucg::oob {
namespace {

using wire::kind;

// An address keeps us no longer than this from the next one when no connection comes about there,
// or one on which nobody says anything.
constexpr ucs::time::nanoseconds time_to_connect = 5 * ucs::time::second;
constexpr ucs::time::nanoseconds shortest_rest = 10 * ucs::time::millisecond;
constexpr ucs::time::nanoseconds longest_rest = ucs::time::second;
// After this rank's deadline, for rank 0 to say who is missing.
constexpr ucs::time::nanoseconds time_to_answer = 3 * ucs::time::second;

}  // namespace

tcp_leaf::tcp_leaf(const membership& who, std::uint64_t job, tcp_place root,
                   ucs::unique_fd connected, const job_key& key)
    : exchange(who), job_(job), root_(std::move(root)), key_(key) {
    greet(std::move(connected));
}

tcp_leaf::tcp_leaf(const membership& who, std::uint64_t job, tcp_place root,
                   std::vector<ucs::net::socket_address> addresses, const job_key& key)
    : exchange(who),
      job_(job),
      root_(std::move(root)),
      key_(key),
      addresses_(std::move(addresses)) {}

tcp_leaf::~tcp_leaf() = default;

ucs_status_t tcp_leaf::start() {
    is_in_round_ = true;
    has_begun_ = is_sending_block_ = is_deaf_ = has_complained_ = false;
    return UCS_OK;
}

ucs_status_t tcp_leaf::advance() {
    if (state_ != state::joined) {
        const ucs_status_t status = join();
        if (status != UCS_OK) return status;
    }
    const ucs_status_t status = take_part();
    return status == UCS_INPROGRESS ? see_deadline() : status;
}

void tcp_leaf::finish(ucs_status_t why) noexcept {
    is_in_round_ = false;
    if (why == UCS_OK) {
        // Rank 0 has all blocks, so it has this one: the frame is whole.
        if (link_ && is_sending_block_) link_->forget_body();
        is_sending_block_ = false;
        return;
    }
    link_.reset();
    connecting_.reset();
}

// UCS_OK: joined.
ucs_status_t tcp_leaf::join() {
    ucs_status_t status = UCS_INPROGRESS;
    if (state_ == state::resting && ucs::time::now() >= rest_until_) connect();
    if (state_ == state::connecting) see_connection();
    if (state_ == state::greeting) status = opening_ ? see_opening() : see_welcome();
    if (status != UCS_INPROGRESS || !is_late()) return status;
    const std::string trouble = state_ == state::greeting ? "it does not answer"
                                : last_trouble_.empty()   ? "no connection yet"
                                                          : last_trouble_;
    const bool is_other = !last_silence_.empty() && last_silence_ != trouble;
    ucs::log::error(oob_log,
                    "round {}: rank {} did not reach rank 0 at {} within {} s ({}{}{}); see "
                    "whether it was started, and whether the port is open",
                    now().number, rank(), root_.text(), timeout_seconds(), trouble,
                    is_other ? "; " : "", is_other ? last_silence_ : std::string());
    return UCS_ERR_TIMED_OUT;
}

bool tcp_leaf::may_go_elsewhere() const noexcept {
    return addresses_.size() > 1;
}

// The next address; the name is looked up again when all were tried.
void tcp_leaf::connect() {
    if (next_address_ >= addresses_.size()) {
        std::string why;
        addresses_ = root_.resolve(why);
        next_address_ = 0;
        if (addresses_.empty()) return try_again(fmt::format("{}: {}", root_.host, why));
    }
    begin_connection(addresses_[next_address_++]);
}

void tcp_leaf::begin_connection(const ucs::net::socket_address& at) {
    connecting_ = ucs::sys::within_budget(
        ucs::unique_fd(::socket(at.ip().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
    if (!connecting_) return try_again(std::strerror(errno));
    try_until_ = ucs::time::now() + time_to_connect;
    state_ = state::connecting;
    if (::connect(connecting_.get(), at.data(), at.size()) != 0 && errno != EINPROGRESS &&
        errno != EINTR)
        try_again(fmt::format("{}: {}", at.text(), std::strerror(errno)));
}

void tcp_leaf::see_connection() {
    pollfd ready{connecting_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) {
        if (ucs::time::now() >= try_until_) try_again("no answer");
        return;
    }
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(connecting_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    // A port of this host that nobody listens at may be connected with itself.
    ucs::net::socket_address here, there;
    if (error == 0 && ::getsockname(connecting_.get(), here.data(), here.size_to_fill()) == 0 &&
        ::getpeername(connecting_.get(), there.data(), there.size_to_fill()) == 0 &&
        here.ip() == there.ip() && here.port() == there.port())
        error = ECONNREFUSED;
    if (error != 0) return try_again(std::strerror(error));
    greet(std::move(connecting_));
}

void tcp_leaf::greet(ucs::unique_fd socket) {
    link_.emplace(std::move(socket));
    opening_.emplace(ucs::security::opening::role::client, key_ ? &*key_ : nullptr, store_purpose);
    state_ = state::greeting;
    try_until_ = ucs::time::now() + time_to_connect;
    static_cast<void>(link_->advance(*opening_));
    // Without a key the rest of the opening tells nothing that the hello depends on, and a rank 0
    // that is about to end hears at once which rank is here. But a rank 0 to which a rank has said
    // hello takes the end of the connection for the end of the rank.
    if (!key_ && !may_go_elsewhere()) say_hello();
}

void tcp_leaf::say_hello() {
    link_->put({kind::hello, rank(), size(), job_});
    static_cast<void>(link_->flush());
}

ucs_status_t tcp_leaf::see_opening() {
    using ucs::security::opening_failure;
    switch (link_->advance(*opening_)) {
        case ucs::security::opening::step::incomplete:
            if (may_go_elsewhere() && ucs::time::now() >= try_until_) leave_silent_address();
            return UCS_INPROGRESS;
        case ucs::security::opening::step::agreed:
            opening_.reset();
            if (key_ || may_go_elsewhere()) say_hello();
            return see_welcome();
        case ucs::security::opening::step::failed:
            break;
    }
    const opening_failure why = opening_->failure();
    if (why == opening_failure::foreign || why == opening_failure::interrupted) {
        // An older job's rank 0 that just ends, or somebody else at the port.
        try_again(why == opening_failure::foreign ? "what listens there is no rank 0"
                                                  : explain(why));
        return UCS_INPROGRESS;
    }
    ucs::log::error(oob_log, "rank {} cannot join rank 0 at {}: {}", rank(), root_.text(),
                    explain(why));
    return UCS_ERR_REJECTED;
}

// Another user's program may listen at one of several addresses, and rank 0 at another one.
void tcp_leaf::leave_silent_address() {
    last_silence_ =
        fmt::format("what listens at {} says nothing", addresses_[next_address_ - 1].text());
    try_again(last_silence_);
}

ucs_status_t tcp_leaf::see_welcome() {
    // Where it cannot be sent, reading says what happened.
    static_cast<void>(link_->flush());
    if (!link_->in_frame()) {
        const ucs_status_t status = link_->read_header();
        if (status == UCS_INPROGRESS) return status;
        if (status != UCS_OK) {
            // An older job's rank 0 that just ends, or somebody else at the port.
            try_again(status == UCS_ERR_INVALID_PARAM ? "what listens there is no rank 0"
                                                      : "it closed the connection");
            return UCS_INPROGRESS;
        }
    }
    if (link_->header().what == kind::failure) {
        wire::failure why;
        const ucs_status_t status = link_->read_failure(why, size());
        if (status == UCS_INPROGRESS) return status;
        if (status == UCS_OK && why.why == UCS_ERR_REJECTED) {
            ucs::log::error(oob_log,
                            "rank 0 at {} refuses rank {} of {}: another one is there already, or "
                            "rank 0 has another number of ranks",
                            root_.text(), rank(), size());
            return why.why;
        }
        // It came to nothing there before this rank came.
        if (status == UCS_OK && why.why != UCS_ERR_BUSY && link_->header().job == job_)
            return told("rank 0", why);
        try_again("another job, or an older start of this one, has its rank 0 there");
        return UCS_INPROGRESS;
    }
    if (link_->header().what != kind::welcome) {
        try_again("what listens there is no rank 0");
        return UCS_INPROGRESS;
    }
    static_cast<void>(link_->read_body({}));
    state_ = state::joined;
    return UCS_OK;
}

void tcp_leaf::try_again(std::string why) {
    last_trouble_ = std::move(why);
    ucs::log::debug(oob_log, "rank {} does not reach rank 0 at {}: {}", rank(), root_.text(),
                    last_trouble_);
    connecting_.reset();
    link_.reset();
    opening_.reset();
    state_ = state::resting;
    if (next_address_ < addresses_.size()) return;  // the next one at once
    rest_ = std::clamp(2 * rest_, shortest_rest, longest_rest);
    rest_until_ = ucs::time::now() + rest_;
}

ucs_status_t tcp_leaf::take_part() {
    if (!link_) return lost("sent nonsense");
    send_on();
    for (;;) {
        if (!link_->in_frame()) {
            const ucs_status_t status = link_->read_header();
            if (status == UCS_INPROGRESS)
                return link_->is_silent() ? lost("does not answer any more") : status;
            if (status != UCS_OK)
                return lost(status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
        }
        if (link_->header().what != kind::answer) return take_frame();
        const ucs_status_t status = take_answer();
        if (status == UCS_INPROGRESS) return status;
        if (status != UCS_OK)
            return lost(status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
    }
}

// Letters go before a block that was not begun: what is published before a round is there when it
// ends. What rank 0 sent before it closed the connection is still to be read.
void tcp_leaf::send_on() {
    while (!is_deaf_) {
        const ucs_status_t status = link_->flush();
        if (status == UCS_INPROGRESS) return;
        is_deaf_ = status != UCS_OK;
        if (is_deaf_) return;
        is_sending_block_ = false;
        if (std::exchange(is_sending_letter_, false)) letters_.pop_front();
        if (!letters_.empty()) {
            is_sending_letter_ = true;
            link_->put(letters_.front().head, letters_.front().content);
        } else if (is_in_round_ && !has_begun_) {
            has_begun_ = is_sending_block_ = true;
            link_->put(frame(kind::block), block(rank()));
        } else {
            return;
        }
    }
}

ucs_status_t tcp_leaf::take_frame() {
    const wire::header& what = link_->header();
    if (what.what == kind::failure) return take_failure();
    if (what.what != kind::blocks || what.round != now().number || !has_begun_ || is_sending_block_)
        return lost("sent what belongs to no round of ours");
    if (what.content != all_blocks().size()) {
        ucs::log::error(oob_log, "round {}: rank 0 has {} bytes for rank {}, which expects {}",
                        now().number, what.content, rank(), all_blocks().size());
        return UCS_ERR_INVALID_PARAM;
    }
    const ucs_status_t status = link_->read_body(all_blocks());
    return status == UCS_ERR_CONNECTION_RESET ? lost("died or left") : status;
}

ucs_status_t tcp_leaf::take_failure() {
    wire::failure why;
    const ucs_status_t status = link_->read_failure(why, size());
    if (status == UCS_INPROGRESS) return status;
    if (status != UCS_OK)
        return lost(status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
    return told("rank 0", why);
}

ucs_status_t tcp_leaf::see_deadline() {
    if (!is_late()) return UCS_INPROGRESS;
    if (!has_complained_) {
        has_complained_ = true;
        answer_until_ = ucs::time::now() + time_to_answer;
        // It has not taken the block: then it is not in the round, and answers nothing.
        if (!has_begun_ || is_sending_block_ || is_deaf_) answer_until_ = 0;
        if (answer_until_ != 0) {
            write(kind::late, now().number);
            send_on();
        }
    }
    if (ucs::time::now() < answer_until_) return UCS_INPROGRESS;
    const rank_t root = 0;
    return late({&root, 1}, {});
}

ucs_status_t tcp_leaf::lost(const char* how) {
    ucs::log::error(oob_log, "round {}: rank 0 at {} {}", now().number, root_.text(), how);
    return UCS_ERR_CONNECTION_RESET;
}

}  // namespace ucg::oob
