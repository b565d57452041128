#include "ucg/oob/tcp_root.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucs/sys/descriptor_budget.hpp"

namespace ucg::oob {
namespace {

using wire::kind;

constexpr ucs::time::nanoseconds time_to_greet = 10 * ucs::time::second;
// Connections that have not said which rank they are, beyond the number of ranks: all ranks may
// come at once, and all from one host.
constexpr std::size_t most_strangers = 64;
constexpr std::size_t most_strangers_of_origin = 48;
// Accepted in a row before other events get their turn, beyond the number of ranks.
constexpr std::size_t most_accepts = 256;
// Frames of one guest that are read in a row. A guest that sends without pause keeps its socket
// full, and the rest is read at the next call.
constexpr unsigned most_frames = 64;
// Of a block for the next round that is taken before that begins here.
constexpr std::size_t most_early = 64 * 1024;

}  // namespace

ucs::result<std::unique_ptr<tcp_root>> tcp_root::make(const membership& who, std::uint64_t job,
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
        new tcp_root(who, job, std::move(listener), key, std::move(epoll)));
}

tcp_root::tcp_root(const membership& who, std::uint64_t job, ucs::unique_fd listener,
                   const job_key& key, ucs::unique_fd epoll)
    : exchange(who),
      job_(job),
      key_(key),
      listener_(std::move(listener)),
      epoll_(std::move(epoll)),
      admission_({.most = who.size + most_strangers,
                  .most_per_origin = who.size + most_strangers_of_origin,
                  .time_to_prove = time_to_greet}),
      members_(who.size),
      store_(who.size) {}

// Ranks that came after the failure need not wait for a rank 0 that will not be there.
tcp_root::~tcp_root() {
    if (failed_ != UCS_OK && !is_copy()) dismiss_strangers(true);
}

ucs_status_t tcp_root::start() {
    wanted_ = size() - 1;
    sending_ = 0;
    is_in_round_ = true;
    is_sharing_ = false;
    if (!lost_.empty()) {
        std::sort(lost_.begin(), lost_.end());
        ucs::log::error(oob_log, "round {} cannot be: {} left after the last one", now().number,
                        rank_list(lost_));
        fail(UCS_ERR_CONNECTION_RESET, lost_);
        return failed_;
    }
    for (const auto& each : members_)
        if (each) each->has_given = false;
    take_early_blocks();
    for (const auto& each : members_) {
        if (!each || !each->is_ahead) continue;
        each->is_ahead = false;
        watch(*each);
        read(*each);
    }
    return failed_;
}

ucs_status_t tcp_root::advance() {
    poll();
    drop_strangers();
    look_for_silent();
    if (failed_ == UCS_OK && wanted_ == 0 && !is_sharing_) share();
    if (failed_ == UCS_OK && is_sharing_ && sending_ == 0) return UCS_OK;
    if (failed_ == UCS_OK && is_late()) fail_late();
    return failed_ != UCS_OK ? failed_ : UCS_INPROGRESS;
}

void tcp_root::finish(ucs_status_t why) noexcept {
    const rank_t me = 0;
    is_in_round_ = false;
    if (why != UCS_OK) fail(why, {&me, 1});
    // A failure may have ended the round while some had half of the result, or of an answer.
    for (const auto& each : members_) {
        if (!each || each->is_gone) continue;
        if (!each->is_owed && (failed_ == UCS_OK || each->is_told)) continue;
        if (each->out == sending::result) each->link.forget_body();
        ::shutdown(each->link.fd(), SHUT_RDWR);
        each->is_gone = true;
    }
}

void tcp_root::poll() {
    epoll_event events[64];
    // Enough turns for everybody; who floods the port waits for the next call.
    for (rank_t turn = 0; turn <= size() / 32 + 4; ++turn) {
        const int count = ::epoll_wait(epoll_.get(), events, std::size(events), 0);
        for (int i = 0; i < count && failed_ == UCS_OK; ++i) {
            if (events[i].data.ptr == nullptr)
                accept_all();
            else
                serve(*static_cast<guest*>(events[i].data.ptr), events[i].events);
        }
        if (count < static_cast<int>(std::size(events)) || failed_ != UCS_OK) return;
    }
}

void tcp_root::accept_all() {
    for (std::size_t turn = 0; turn < size() + most_accepts; ++turn) {
        ucs::unique_fd socket = ucs::sys::accept_within_budget(listener_.get());
        if (socket) {
            adopt(std::move(socket));
            continue;
        }
        const int why = errno;
        if (why != EMFILE && why != ENFILE && why != ENOBUFS && why != ENOMEM)
            return;  // no more, or one that is gone again
        if (!displace_one()) return cannot_accept(why);
    }
}

void tcp_root::enforce_limits() noexcept {
    while (auto* const surplus = admission_.excess(ucs::time::now())) {
        if (!std::exchange(has_reported_crowd_, true)) {
            complaints_.warn(oob_log,
                             "{} connections to rank 0 have not said which rank they are; the "
                             "oldest are closed. Keep strangers from this port by a firewall",
                             admission_.size());
        }
        dismiss(static_cast<guest&>(*surplus));
    }
}

// Without descriptors or memory the stranger that is worth least ends, so that strangers cost no
// rank its connection. False: there is none.
bool tcp_root::displace_one() {
    for (std::size_t i = 0; i < strangers_.size() && failed_ == UCS_OK; ++i)
        if (strangers_[i]) read(*strangers_[i]);  // it may be a rank
    auto* const least = admission_.least();
    if (least == nullptr || failed_ != UCS_OK) return false;
    complaints_.warn(oob_log,
                     "somebody who connected to rank 0 and says nothing is dropped: no more "
                     "connections are possible");
    dismiss(static_cast<guest&>(*least));
    return true;
}

// Closing alone does not end the events of a socket that a child of a fork has, too. The object
// stays until drop_strangers(), because an event that is served may be about it.
void tcp_root::dismiss(guest& stranger) noexcept {
    admission_.remove(stranger);
    ignore(stranger);
    stranger.is_gone = true;
    stranger.link.close();
}

void tcp_root::cannot_accept(int why) {
    if (failed_ != UCS_OK) return;
    if (why != EMFILE) {  // others of this host, which may end before our time does
        complaints_.warn(oob_log, "rank 0 cannot take a connection now: {}", std::strerror(why));
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
    strangers_.push_back(std::make_unique<guest>(std::move(socket), key_ ? &*key_ : nullptr));
    guest& someone = *strangers_.back();
    const int fd = someone.link.fd();
    epoll_event event{};
    event.events = someone.interest = EPOLLIN;
    event.data.ptr = &someone;
    if (admission_.add(someone, ucs::net::origin::of_peer(fd), ucs::time::now()) != UCS_OK ||
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
        complaints_.warn(oob_log, "a connection is dropped: {}", std::strerror(errno));
        strangers_.pop_back();
        return;
    }
    read(someone);  // a rank has usually said which one it is
    enforce_limits();
}

// Hosts that vanished while they owe an answer.
void tcp_root::look_for_silent() {
    const auto time = ucs::time::now();
    if (time < next_look_) return;
    next_look_ = time + ucs::time::second;
    for (const auto& each : members_)
        if (each && failed_ == UCS_OK && !each->is_gone && each->link.is_silent())
            lose(*each, "does not answer any more");
}

// Not while events are served, which may be about them.
void tcp_root::drop_strangers() {
    while (auto* const late = admission_.overdue(ucs::time::now())) {
        complaints_.warn(oob_log, "somebody who connected to rank 0 said nothing for {} s",
                         ucs::time::to_seconds(time_to_greet));
        dismiss(static_cast<guest&>(*late));
    }
    std::erase_if(strangers_, [&](const std::unique_ptr<guest>& each) {
        if (!each) return true;  // it became a member
        if (!each->is_gone) return false;
        ignore(*each);
        return true;
    });
}

void tcp_root::ignore(const guest& which) noexcept {
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, which.link.fd(), nullptr));
}

void tcp_root::serve(guest& from, std::uint32_t events) {
    if (from.is_gone) return;
    if (is_paused(from) && (events & (EPOLLHUP | EPOLLERR)) != 0) return lose(from, "died or left");
    if ((events & EPOLLOUT) != 0) send_on(from);
    if (!from.is_gone && (events & ~std::uint32_t{EPOLLOUT}) != 0) read(from);
}

void tcp_root::watch(guest& which) noexcept {
    if (which.is_gone) return;
    const std::uint32_t interest = (is_paused(which) ? 0U : std::uint32_t{EPOLLIN}) |
                                   (which.link.is_sending() ? std::uint32_t{EPOLLOUT} : 0U);
    if (which.interest == interest) return;
    epoll_event event{};
    event.events = which.interest = interest;
    event.data.ptr = &which;
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, which.link.fd(), &event));
}

// Whether both sides agree; frames follow.
bool tcp_root::take_opening(guest& from) {
    const auto step = from.link.advance(*from.opening);
    if (from.opening->has_record()) admission_.prefer(from);
    if (step == ucs::security::opening::step::failed) {
        const ucs::security::opening_failure why = from.opening->failure();
        if (why == ucs::security::opening_failure::interrupted)
            let_go(from);
        else
            lose(from, explain(why));
    }
    if (step != ucs::security::opening::step::agreed) return false;
    from.opening.reset();
    return true;
}

tcp_root::read_end tcp_root::read(guest& from) {
    if (from.is_gone || failed_ != UCS_OK) return read_end::drained;
    if (from.opening && !take_opening(from)) return read_end::drained;
    for (unsigned frames = 0; frames < most_frames; ++frames)
        if (from.is_gone || is_paused(from) || failed_ != UCS_OK || !read_frame(from))
            return read_end::drained;
    return read_end::limit;
}

// Returns whether a frame was taken whole.
bool tcp_root::read_frame(guest& from) {
    if (!from.link.in_frame()) {
        const ucs_status_t status = from.link.read_header();
        if (status == UCS_INPROGRESS) return false;
        if (status == UCS_ERR_CONNECTION_RESET && from.rank == 0) {
            let_go(from);
            return false;
        }
        if (status != UCS_OK) {
            lose(from, status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
            return false;
        }
    }
    return take_frame(from);
}

// Whether it was taken whole.
bool tcp_root::take_frame(guest& from) {
    const wire::header& what = from.link.header();
    if (from.rank == 0) return greet(from);
    if (what.from == from.rank && what.ranks == size() && what.job == job_) {
        if (what.what == kind::block) return take_block(from);
        if (what.what == kind::late) return take_late(from);
        if (what.what == kind::published) return take_published(from);
        if (what.what == kind::question) return take_question(from);
        if (what.what == kind::withdrawn) return take_withdrawn(from);
    }
    lose(from, "sent what a rank does not send");
    return false;
}

// With the last block here nobody is missing: the result is on its way.
bool tcp_root::take_late(guest& from) {
    const std::uint64_t of = from.link.header().round;
    static_cast<void>(from.link.read_body({}));
    if (of == now().number && wanted_ != 0) fail_late();
    if (from.early && of == now().number + 1) from.is_late = true;
    return true;
}

bool tcp_root::take_block(guest& from) {
    const wire::header& what = from.link.header();
    if (from.is_early_coming) return take_early(from);
    if (from.has_given && !from.early && what.round == now().number + 1) {
        if (what.content <= most_early) return take_early(from);
        from.is_ahead = true;
        watch(from);
        return false;
    }
    if (from.has_given || what.round != now().number) {
        lose(from, "sent the block of a wrong round");
        return false;
    }
    if (what.content != now().bytes) {
        fail(differs(from.rank, what.content), {&from.rank, 1});
        return false;
    }
    const ucs_status_t status = from.link.read_body(block(from.rank));
    if (status == UCS_OK) {
        from.has_given = true;
        --wanted_;
        return true;
    }
    if (status != UCS_INPROGRESS) lose(from, "died or left");
    return false;
}

bool tcp_root::greet(guest& from) {
    const wire::header what = from.link.header();
    if (what.what != kind::hello) {
        lose(from, "sent nonsense");
        return false;
    }
    static_cast<void>(from.link.read_body({}));
    from.has_said_who = true;
    // A rank of another job may find its own rank 0 here later.
    if (what.job != job_) return refuse(from, UCS_ERR_BUSY, "of another job");
    if (what.ranks != size()) return refuse(from, UCS_ERR_REJECTED, "of a job of another size");
    if (what.from == 0) return refuse(from, UCS_ERR_REJECTED, "a rank that is here already");
    if (const auto& known = members_[what.from]) {
        // Who has its result, or has heard that there is none, may have left, and be here for the
        // store that follows at this port.
        const bool is_known_whole = read(*known) == read_end::drained;
        if (known->is_gone || failed_ != UCS_OK)
            return refuse(from, UCS_ERR_BUSY, "it has left already");
        if (!is_known_whole)
            return refuse(from, UCS_ERR_BUSY, "one that may have left has sent much before");
        return refuse(from, UCS_ERR_REJECTED, "a rank that is here already");
    }
    const auto place = std::find_if(strangers_.begin(), strangers_.end(),
                                    [&](const auto& each) { return each.get() == &from; });
    from.rank = what.from;
    admission_.remove(from);
    members_[what.from] = std::move(*place);
    if (failed_ != UCS_OK) {
        tell(from);
        return false;
    }
    from.link.put({kind::welcome, 0, size(), job_});
    // It fits into an empty socket.
    if (from.link.flush() != UCS_OK) lose(from, "died or left");
    return true;
}

bool tcp_root::refuse(guest& from, ucs_status_t why, const char* text) {
    const wire::header& what = from.link.header();
    complaints_.warn(oob_log, "rank {} of {} wants to join and is refused: {} ({} ranks here)",
                     what.from, what.ranks, text, size());
    if (!from.is_told) {
        from.link.put({kind::failure, 0, size(), job_}, wire::failure{.why = why});
        static_cast<void>(from.link.flush());
    }
    dismiss(from);
    return false;
}

// A rank that knows several addresses of rank 0 leaves one where it waits for long, and comes again
// later, as often as it takes. So a stranger that only ends its connection costs no warning.
void tcp_root::let_go(guest& stranger) {
    dismiss(stranger);
    ucs::log::debug(oob_log, "a connection to rank 0 ended before it said which rank it is");
}

void tcp_root::lose(guest& which, const char* how) {
    if (which.rank == 0) {
        dismiss(which);
        complaints_.warn(oob_log, "somebody who connected to rank 0 is dropped: {}", how);
        return;
    }
    which.is_gone = true;
    ignore(which);
    store_.leave(which.rank);
    if (is_sharing_ || !is_in_round_) {  // it may have had all that it wanted
        if (std::exchange(which.is_owed, false)) --sending_;
        lost_.push_back(which.rank);
        return;
    }
    ucs::log::error(oob_log, "round {}: rank {} {}", now().number, which.rank, how);
    fail(UCS_ERR_CONNECTION_RESET, {&which.rank, 1});
}

void tcp_root::share() {
    is_sharing_ = true;
    for (const auto& each : members_) {
        if (!each || each->is_gone) continue;
        each->is_owed = true;
        ++sending_;
    }
    for (const auto& each : members_)
        if (each && !each->is_gone) send_on(*each);
}

void tcp_root::send_on(guest& to) {
    while (to.link.is_sending() || put_next(to)) {
        const ucs_status_t status = to.link.flush();
        if (status == UCS_INPROGRESS) break;
        if (status != UCS_OK) return lose(to, "died or left");
        if (to.out == sending::result) {
            to.is_owed = false;
            --sending_;
        }
        to.out = sending::nothing;
        to.answer.reset();
    }
    watch(to);
}

// The result before an answer.
bool tcp_root::put_next(guest& to) {
    if (to.is_owed) {
        to.link.put({kind::blocks, 0, size(), job_, now().number}, all_blocks());
        to.out = sending::result;
        return true;
    }
    if (!to.question) return false;
    const auto [number, of] = *std::exchange(to.question, std::nullopt);
    to.answer = store_.find(number, of);
    std::array<std::byte, wire::answer_head::size> head;
    wire::pack({to.answer ? UCS_OK : UCS_ERR_NO_ELEM, of}, head);
    to.link.put({kind::answer, 0, size(), job_, number}, head,
                to.answer ? std::span<const std::byte>(*to.answer) : std::span<const std::byte>());
    to.out = sending::answer;
    return true;
}

std::vector<rank_t> tcp_root::missing() const {
    std::vector<rank_t> who;
    for (rank_t rank = 1; rank < size(); ++rank) {
        const auto& each = members_[rank];
        if (is_sharing_ ? each->is_owed && !each->is_gone : !each || !each->has_given)
            who.push_back(rank);
    }
    return who;
}

void tcp_root::fail_late() {
    const auto who = missing();
    std::vector<rank_t> absent;
    for (const rank_t rank : who)
        if (!members_[rank]) absent.push_back(rank);
    fail(late(who, absent, is_sharing_ ? "take the result" : "take part"), who);
}

void tcp_root::fail(ucs_status_t why, std::span<const rank_t> culprits) noexcept {
    if (failed_ != UCS_OK) return;
    failed_ = why;
    try {
        said_ = wire::blame(why, culprits);
    } catch (const std::bad_alloc&) {  // then without names
        said_ = {.why = why, .count = static_cast<std::uint32_t>(culprits.size())};
    }
    dismiss_strangers(false);
    for (const auto& each : members_)
        if (each) tell(*each);
}

// Who is not here yet is told of the failure. Whoever was here, or was told, knows of it and comes
// to the store that follows at this port; who has not said which rank it is may do so as well, if
// it has come since.
void tcp_root::dismiss_strangers(bool may_know) noexcept try {
    accept_all();
    for (std::size_t i = 0; i < strangers_.size(); ++i) {
        if (!strangers_[i] || strangers_[i]->is_gone || strangers_[i]->has_said_who) continue;
        guest& who = *strangers_[i];
        // A frame before the end of the opening would mean nothing to the other side.
        if (who.opening && !take_opening(who)) continue;
        const ucs_status_t status = who.link.read_header();
        if (status == UCS_OK)
            static_cast<void>(greet(who));
        else if (status == UCS_INPROGRESS && !may_know)
            tell(who);
    }
} catch (const std::bad_alloc&) {  // then they find out when their time is over
}

// The socket stays open, as one that is closed too early loses what was sent last.
void tcp_root::tell(guest& whom) noexcept {
    if (whom.is_gone || whom.is_told || whom.link.is_sending()) return;
    whom.link.put({kind::failure, 0, size(), job_, now().number}, said_);
    static_cast<void>(whom.link.flush());
    whom.is_told = true;
}

}  // namespace ucg::oob
