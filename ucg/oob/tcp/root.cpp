#include "ucg/oob/tcp/root.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/net/socket.hpp"

namespace ucg::oob {
namespace {

using wire::frame_kind;

constexpr ucs::time::nanoseconds hello_time = 10 * ucs::time::second;
// Limits of connections whose peer has not sent its rank, in addition to the number of ranks: all
// ranks may connect at the same time, and from one host.
constexpr std::size_t max_strangers = 64;
constexpr std::size_t max_strangers_of_origin = 48;
// Connections accepted in a row before other events are served, in addition to the number of ranks.
constexpr std::size_t max_accepts = 256;
// Frames received from one peer in a row. A peer that sends without pause keeps its socket full;
// the next call receives the rest.
constexpr unsigned max_frames = 64;
// Maximum length of a block that is received before its round begins at rank 0.
constexpr std::size_t max_early = 64 * 1024;

}  // namespace

ucs::result<std::unique_ptr<tcp_root>> tcp_root::make(const rank_params& self, std::uint64_t job,
                                                      ucs::unique_fd listener, const job_key& key) {
    ucs::unique_fd epoll = ucs::sys::within_budget(ucs::unique_fd(::epoll_create1(EPOLL_CLOEXEC)));
    bool good = static_cast<bool>(epoll);
    if (good && listener) {
        epoll_event event{};
        event.events = EPOLLIN;
        good = ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, listener.get(), &event) == 0;
    }
    if (!good) {
        ucs::log::error(oob_log, "rank 0 cannot wait for the others (epoll): {}",
                        std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return std::unique_ptr<tcp_root>(
        new tcp_root(self, job, std::move(listener), key, std::move(epoll)));
}

tcp_root::tcp_root(const rank_params& self, std::uint64_t job, ucs::unique_fd listener,
                   const job_key& key, ucs::unique_fd epoll)
    : exchange(self),
      job_(job),
      key_(key),
      listener_(std::move(listener)),
      epoll_(std::move(epoll)),
      admission_({.most = self.size + max_strangers,
                  .most_per_origin = self.size + max_strangers_of_origin,
                  .time_to_prove = hello_time}),
      members_(self.size),
      store_(self.size) {}

// Notifies ranks that connected after the failure, so that they do not wait for a rank 0 that is
// gone.
tcp_root::~tcp_root() {
    if (failed_ != UCS_OK && !is_copy()) notify_strangers(true);
}

ucs_status_t tcp_root::start() {
    missing_blocks_ = size() - 1;
    pending_results_ = 0;
    is_in_round_ = true;
    is_sending_results_ = false;
    if (!lost_.empty()) {
        std::sort(lost_.begin(), lost_.end());
        ucs::log::error(oob_log, "round {} cannot be: {} left after the last one", current().number,
                        rank_list(lost_));
        fail(UCS_ERR_CONNECTION_RESET, lost_);
        return failed_;
    }
    for (const auto& each : members_)
        if (each) each->has_sent_block = false;
    use_early_blocks();
    for (const auto& each : members_) {
        if (!each || !each->has_block_waiting) continue;
        each->has_block_waiting = false;
        update_events(*each);
        read(*each);
    }
    return failed_;
}

ucs_status_t tcp_root::advance() {
    poll();
    drop_strangers();
    drop_silent_peers();
    if (failed_ == UCS_OK && missing_blocks_ == 0 && !is_sending_results_) send_results();
    if (failed_ == UCS_OK && is_sending_results_ && pending_results_ == 0) return UCS_OK;
    if (failed_ == UCS_OK && is_late()) fail_timed_out();
    return failed_ != UCS_OK ? failed_ : UCS_INPROGRESS;
}

void tcp_root::finish(ucs_status_t status) noexcept {
    const rank_t me = 0;
    is_in_round_ = false;
    if (status != UCS_OK) fail(status, {&me, 1});
    // Closes connections on which the result or a reply was partly sent when the round failed.
    for (const auto& each : members_) {
        if (!each || each->is_closed) continue;
        if (!each->awaits_result && (failed_ == UCS_OK || each->is_notified)) continue;
        if (each->out == sending::result) each->link.forget_body();
        ::shutdown(each->link.fd(), SHUT_RDWR);
        each->is_closed = true;
    }
}

void tcp_root::poll() {
    epoll_event events[64];
    // The number of turns suffices for all ranks. Further events of a peer that floods the port
    // wait for the next call.
    for (rank_t turn = 0; turn <= size() / 32 + 4; ++turn) {
        const int count = ::epoll_wait(epoll_.get(), events, std::size(events), 0);
        for (int i = 0; i < count && failed_ == UCS_OK; ++i) {
            if (events[i].data.ptr == nullptr)
                accept_all();
            else
                serve(*static_cast<connection*>(events[i].data.ptr), events[i].events);
        }
        if (count < static_cast<int>(std::size(events)) || failed_ != UCS_OK) return;
    }
}

void tcp_root::accept_all() {
    for (std::size_t turn = 0; turn < size() + max_accepts; ++turn) {
        ucs::unique_fd socket = ucs::sys::accept_within_budget(listener_.get());
        if (socket) {
            adopt(std::move(socket));
            continue;
        }
        const int why = errno;
        if (why != EMFILE && why != ENFILE && why != ENOBUFS && why != ENOMEM)
            return;  // no more connections, or the peer is gone
        if (!drop_least_stranger()) return report_accept_error(why);
    }
}

void tcp_root::enforce_limits() noexcept {
    while (auto* const surplus = admission_.excess(ucs::time::now())) {
        if (!std::exchange(has_reported_excess_, true)) {
            warnings_.warn(oob_log,
                           "{} connections to rank 0 have not sent their rank; the "
                           "oldest are closed. Keep strangers from this port by a firewall",
                           admission_.size());
        }
        close_stranger(static_cast<connection&>(*surplus));
    }
}

// Without descriptors or memory, closes the least valuable stranger, so that strangers cost no rank
// its connection. Returns false if there is none.
bool tcp_root::drop_least_stranger() {
    for (std::size_t i = 0; i < strangers_.size() && failed_ == UCS_OK; ++i)
        if (strangers_[i]) read(*strangers_[i]);  // the stranger may be a rank
    auto* const least = admission_.least();
    if (least == nullptr || failed_ != UCS_OK) return false;
    warnings_.warn(oob_log,
                   "a silent connection to rank 0 is dropped: no more "
                   "connections are possible");
    close_stranger(static_cast<connection&>(*least));
    return true;
}

// close() does not end the events of a socket that a forked child holds, too. The object stays
// until drop_strangers(), because a pending event may refer to it.
void tcp_root::close_stranger(connection& peer) noexcept {
    admission_.remove(peer);
    remove_events(peer);
    peer.is_closed = true;
    peer.link.close();
}

void tcp_root::report_accept_error(int why) {
    if (failed_ != UCS_OK) return;
    if (why != EMFILE) {  // a limit of the host, which may recover before the deadline
        warnings_.warn(oob_log, "rank 0 cannot take a connection now: {}", std::strerror(why));
        return;
    }
    ucs::log::error(oob_log,
                    "rank 0 cannot take a connection of each of {} ranks: {}; raise the limit of "
                    "open files (ulimit -n)",
                    size(), std::strerror(why));
    const rank_t me = 0;
    fail(UCS_ERR_EXCEEDS_LIMIT, {&me, 1});
}

void tcp_root::adopt(ucs::unique_fd socket) {
    strangers_.push_back(std::make_unique<connection>(std::move(socket), key_ ? &*key_ : nullptr));
    connection& peer = *strangers_.back();
    const int fd = peer.link.fd();
    epoll_event event{};
    event.events = peer.interest = EPOLLIN;
    event.data.ptr = &peer;
    if (admission_.add(peer, ucs::net::origin::of_peer(fd), ucs::time::now()) != UCS_OK ||
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        warnings_.warn(oob_log, "a connection is dropped: {}", std::strerror(errno));
        strangers_.pop_back();
        return;
    }
    read(peer);  // a rank has usually sent its hello already
    enforce_limits();
}

// Drops peers whose hosts vanished.
void tcp_root::drop_silent_peers() {
    const auto time = ucs::time::now();
    if (time < next_check_) return;
    next_check_ = time + ucs::time::second;
    for (const auto& each : members_)
        if (each && failed_ == UCS_OK && !each->is_closed && each->link.is_silent())
            drop_peer(*each, "does not answer any more");
}

// Must not be called while events are served, because they may refer to strangers.
void tcp_root::drop_strangers() {
    while (auto* const overdue = admission_.overdue(ucs::time::now())) {
        warnings_.warn(oob_log, "a connection to rank 0 is closed: it sent nothing for {} s",
                       ucs::time::to_seconds(hello_time));
        close_stranger(static_cast<connection&>(*overdue));
    }
    std::erase_if(strangers_, [&](const std::unique_ptr<connection>& each) {
        if (!each) return true;  // the stranger became a member
        if (!each->is_closed) return false;
        remove_events(*each);
        return true;
    });
}

void tcp_root::remove_events(const connection& peer) noexcept {
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.link.fd(), nullptr));
}

void tcp_root::serve(connection& peer, std::uint32_t events) {
    if (peer.is_closed) return;
    if (is_paused(peer) && (events & (EPOLLHUP | EPOLLERR)) != 0)
        return drop_peer(peer, "died or left");
    if ((events & EPOLLOUT) != 0) send_next(peer);
    if (!peer.is_closed && (events & ~std::uint32_t{EPOLLOUT}) != 0) read(peer);
}

void tcp_root::update_events(connection& peer) noexcept {
    if (peer.is_closed) return;
    const std::uint32_t interest = (is_paused(peer) ? 0U : std::uint32_t{EPOLLIN}) |
                                   (peer.link.is_sending() ? std::uint32_t{EPOLLOUT} : 0U);
    if (peer.interest == interest) return;
    epoll_event event{};
    event.events = peer.interest = interest;
    event.data.ptr = &peer;
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, peer.link.fd(), &event));
}

// Progresses the key handshake. Returns true if both sides agree; frames follow.
bool tcp_root::progress_handshake(connection& peer) {
    const auto step = ucs::net::advance(*peer.handshake, peer.link.fd());
    if (peer.handshake->has_record()) admission_.prefer(peer);
    if (step == ucs::security::key_handshake::step::failed) {
        const ucs::security::handshake_failure failure = peer.handshake->failure();
        if (failure == ucs::security::handshake_failure::interrupted)
            close_unidentified(peer);
        else
            drop_peer(peer, explain(failure));
    }
    if (step != ucs::security::key_handshake::step::agreed) return false;
    peer.handshake.reset();
    return true;
}

tcp_root::read_end tcp_root::read(connection& peer) {
    if (peer.is_closed || failed_ != UCS_OK) return read_end::drained;
    if (peer.handshake && !progress_handshake(peer)) return read_end::drained;
    for (unsigned frames = 0; frames < max_frames; ++frames)
        if (peer.is_closed || is_paused(peer) || failed_ != UCS_OK || !read_frame(peer))
            return read_end::drained;
    return read_end::limit;
}

// Returns true if a frame was received completely.
bool tcp_root::read_frame(connection& peer) {
    if (!peer.link.in_record()) {
        const ucs_status_t status = peer.link.read_header();
        if (status == UCS_INPROGRESS) return false;
        if (status == UCS_ERR_CONNECTION_RESET && peer.rank == 0) {
            close_unidentified(peer);
            return false;
        }
        if (status != UCS_OK) {
            drop_peer(peer, status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
            return false;
        }
    }
    return receive_frame(peer);
}

// Returns true if the frame was received completely.
bool tcp_root::receive_frame(connection& peer) {
    const wire::header& header = peer.link.header();
    if (peer.rank == 0) return receive_hello(peer);
    if (header.from == peer.rank && header.ranks == size() && header.job == job_) {
        if (header.kind == frame_kind::block) return receive_block(peer);
        if (header.kind == frame_kind::late) return receive_late(peer);
        if (header.kind == frame_kind::published) return receive_published(peer);
        if (header.kind == frame_kind::lookup) return receive_lookup(peer);
        if (header.kind == frame_kind::withdrawn) return receive_withdrawn(peer);
    }
    drop_peer(peer, "sent what a rank does not send");
    return false;
}

// If all blocks have arrived, no rank is missing, and the result is being sent.
bool tcp_root::receive_late(connection& peer) {
    const std::uint64_t number = peer.link.header().round;
    static_cast<void>(peer.link.read_body({}));
    if (number == current().number && missing_blocks_ != 0) fail_timed_out();
    if (peer.early_block && number == current().number + 1) peer.is_late = true;
    return true;
}

bool tcp_root::receive_block(connection& peer) {
    const wire::header& header = peer.link.header();
    if (peer.is_receiving_early) return receive_early_block(peer);
    if (peer.has_sent_block && !peer.early_block && header.round == current().number + 1) {
        if (header.content <= max_early) return receive_early_block(peer);
        peer.has_block_waiting = true;
        update_events(peer);
        return false;
    }
    if (peer.has_sent_block || header.round != current().number) {
        drop_peer(peer, "sent the block of a wrong round");
        return false;
    }
    if (header.content != current().bytes) {
        fail(log_size_mismatch(peer.rank, header.content), {&peer.rank, 1});
        return false;
    }
    const ucs_status_t status = peer.link.read_body(block(peer.rank));
    if (status == UCS_OK) {
        peer.has_sent_block = true;
        --missing_blocks_;
        return true;
    }
    if (status != UCS_INPROGRESS) drop_peer(peer, "died or left");
    return false;
}

bool tcp_root::receive_hello(connection& peer) {
    const wire::header header = peer.link.header();
    if (header.kind != frame_kind::hello) {
        drop_peer(peer, "sent nonsense");
        return false;
    }
    static_cast<void>(peer.link.read_body({}));
    peer.is_identified = true;
    // UCS_ERR_BUSY, because a rank of another job may find its own rank 0 at this port later.
    if (header.job != job_) return refuse(peer, UCS_ERR_BUSY, "of another job");
    if (header.ranks != size()) return refuse(peer, UCS_ERR_REJECTED, "of a job of another size");
    if (header.from == 0) return refuse(peer, UCS_ERR_REJECTED, "a rank that is here already");
    if (const auto& known = members_[header.from]) {
        // A rank that has its result, or was notified of a failure, may have left and connect again
        // for the next store at this port.
        const bool is_known_whole = read(*known) == read_end::drained;
        if (known->is_closed || failed_ != UCS_OK)
            return refuse(peer, UCS_ERR_BUSY, "it has left already");
        if (!is_known_whole)
            return refuse(peer, UCS_ERR_BUSY, "one that may have left has sent much before");
        return refuse(peer, UCS_ERR_REJECTED, "a rank that is here already");
    }
    const auto position = std::find_if(strangers_.begin(), strangers_.end(),
                                       [&](const auto& each) { return each.get() == &peer; });
    peer.rank = header.from;
    admission_.remove(peer);
    members_[header.from] = std::move(*position);
    if (failed_ != UCS_OK) {
        notify_failure(peer);
        return false;
    }
    peer.link.put({frame_kind::welcome, 0, size(), job_});
    // The frame fits into the empty socket buffer.
    if (peer.link.flush() != UCS_OK) drop_peer(peer, "died or left");
    return true;
}

bool tcp_root::refuse(connection& peer, ucs_status_t status, const char* reason) {
    const wire::header& header = peer.link.header();
    warnings_.warn(oob_log, "rank {} of {} wants to join and is refused: {} ({} ranks here)",
                   header.from, header.ranks, reason, size());
    if (!peer.is_notified) {
        peer.link.put({frame_kind::failure, 0, size(), job_}, wire::failure{.status = status});
        static_cast<void>(peer.link.flush());
    }
    close_stranger(peer);
    return false;
}

// A rank that knows several addresses of rank 0 leaves an address where it waits for long, and
// connects again later. So a stranger that only ends its connection causes no warning.
void tcp_root::close_unidentified(connection& peer) {
    close_stranger(peer);
    ucs::log::debug(oob_log, "a connection to rank 0 ended before it sent its rank");
}

void tcp_root::drop_peer(connection& peer, const char* reason) {
    if (peer.rank == 0) {
        close_stranger(peer);
        warnings_.warn(oob_log, "a connection to rank 0 is dropped: {}", reason);
        return;
    }
    peer.is_closed = true;
    remove_events(peer);
    store_.leave(peer.rank);
    if (is_sending_results_ || !is_in_round_) {  // the peer may have received all it needs
        if (std::exchange(peer.awaits_result, false)) --pending_results_;
        lost_.push_back(peer.rank);
        return;
    }
    ucs::log::error(oob_log, "round {}: rank {} {}", current().number, peer.rank, reason);
    fail(UCS_ERR_CONNECTION_RESET, {&peer.rank, 1});
}

void tcp_root::send_results() {
    is_sending_results_ = true;
    for (const auto& each : members_) {
        if (!each || each->is_closed) continue;
        each->awaits_result = true;
        ++pending_results_;
    }
    for (const auto& each : members_)
        if (each && !each->is_closed) send_next(*each);
}

void tcp_root::send_next(connection& peer) {
    while (peer.link.is_sending() || start_next_frame(peer)) {
        const ucs_status_t status = peer.link.flush();
        if (status == UCS_INPROGRESS) break;
        if (status != UCS_OK) return drop_peer(peer, "died or left");
        if (peer.out == sending::result) {
            peer.awaits_result = false;
            --pending_results_;
        }
        peer.out = sending::nothing;
        peer.reply.reset();
    }
    update_events(peer);
}

// Starts the next frame: a result goes before a reply.
bool tcp_root::start_next_frame(connection& peer) {
    if (peer.awaits_result) {
        peer.link.put({frame_kind::blocks, 0, size(), job_, current().number}, all_blocks());
        peer.out = sending::result;
        return true;
    }
    if (!peer.request) return false;
    const auto [number, publisher] = *std::exchange(peer.request, std::nullopt);
    peer.reply = store_.find(number, publisher);
    std::array<std::byte, wire::reply_head::size> head;
    wire::pack({peer.reply ? UCS_OK : UCS_ERR_NO_ELEM, publisher}, head);
    peer.link.put(
        {frame_kind::reply, 0, size(), job_, number}, head,
        peer.reply ? std::span<const std::byte>(*peer.reply) : std::span<const std::byte>());
    peer.out = sending::reply;
    return true;
}

std::vector<rank_t> tcp_root::missing() const {
    std::vector<rank_t> ranks;
    for (rank_t rank = 1; rank < size(); ++rank) {
        const auto& each = members_[rank];
        if (is_sending_results_ ? each->awaits_result && !each->is_closed
                                : !each || !each->has_sent_block)
            ranks.push_back(rank);
    }
    return ranks;
}

void tcp_root::fail_timed_out() {
    const auto ranks = missing();
    std::vector<rank_t> absent;
    for (const rank_t rank : ranks)
        if (!members_[rank]) absent.push_back(rank);
    fail(log_timeout(ranks, absent, is_sending_results_ ? "take the result" : "take part"), ranks);
}

void tcp_root::fail(ucs_status_t status, std::span<const rank_t> culprits) noexcept {
    if (failed_ != UCS_OK) return;
    failed_ = status;
    try {
        failure_ = wire::make_failure(status, culprits);
    } catch (const std::bad_alloc&) {  // the failure is then sent without ranks
        failure_ = {.status = status, .count = static_cast<std::uint32_t>(culprits.size())};
    }
    notify_strangers(false);
    for (const auto& each : members_)
        if (each) notify_failure(*each);
}

// Notifies ranks that have connected and not joined of the failure. A rank that had joined or was
// notified knows the failure and connects to the next store at this port. If `may_know` is true,
// silent strangers may be such ranks and are not notified.
void tcp_root::notify_strangers(bool may_know) noexcept try {
    accept_all();
    for (std::size_t i = 0; i < strangers_.size(); ++i) {
        if (!strangers_[i] || strangers_[i]->is_closed || strangers_[i]->is_identified) continue;
        connection& peer = *strangers_[i];
        // A frame before the end of the key handshake would be invalid for the peer.
        if (peer.handshake && !progress_handshake(peer)) continue;
        const ucs_status_t status = peer.link.read_header();
        if (status == UCS_OK)
            static_cast<void>(receive_hello(peer));
        else if (status == UCS_INPROGRESS && !may_know)
            notify_failure(peer);
    }
} catch (const std::bad_alloc&) {  // the ranks then fail at their deadlines
}

// The socket stays open, because closing it early would lose the last data.
void tcp_root::notify_failure(connection& peer) noexcept {
    if (peer.is_closed || peer.is_notified || peer.link.is_sending()) return;
    peer.link.put({frame_kind::failure, 0, size(), job_, current().number}, failure_);
    static_cast<void>(peer.link.flush());
    peer.is_notified = true;
}

}  // namespace ucg::oob
