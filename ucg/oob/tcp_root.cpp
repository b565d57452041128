#include "ucg/oob/tcp_root.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucg/oob/log.hpp"

namespace ucg::oob {
namespace {

using wire::kind;

constexpr ucs::time::nanoseconds time_to_greet = 10 * ucs::time::second;
// Beyond the number of ranks, all of which may come at once.
constexpr std::size_t most_strangers = 64;

}  // namespace

ucs::result<std::unique_ptr<tcp_root>> tcp_root::make(const membership& who, std::uint64_t job,
                                                      ucs::unique_fd listener) {
    ucs::unique_fd epoll(::epoll_create1(EPOLL_CLOEXEC));
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
    return std::unique_ptr<tcp_root>(new tcp_root(who, job, std::move(listener), std::move(epoll)));
}

tcp_root::tcp_root(const membership& who, std::uint64_t job, ucs::unique_fd listener,
                   ucs::unique_fd epoll)
    : exchange(who),
      job_(job),
      listener_(std::move(listener)),
      epoll_(std::move(epoll)),
      members_(who.size) {}

// Ranks that came after the failure need not wait for a rank 0 that will not be there.
tcp_root::~tcp_root() {
    if (failed_ == UCS_OK) return;
    accept_all();
    for (const auto& each : strangers_)
        if (each) tell(*each);
}

ucs_status_t tcp_root::start() {
    wanted_ = size() - 1;
    sending_ = 0;
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
    for (const auto& each : members_) {
        if (!each || !each->is_ahead) continue;
        each->is_ahead = false;
        watch(*each, EPOLLIN);
        read(*each);
    }
    return failed_;
}

ucs_status_t tcp_root::advance() {
    poll();
    drop_strangers();
    if (failed_ == UCS_OK && wanted_ == 0 && !is_sharing_) share();
    if (failed_ == UCS_OK && is_sharing_ && sending_ == 0) return UCS_OK;
    if (failed_ == UCS_OK && is_late()) fail_late();
    return failed_ != UCS_OK ? failed_ : UCS_INPROGRESS;
}

void tcp_root::finish(ucs_status_t why) noexcept {
    const rank_t me = 0;
    if (why != UCS_OK) fail(why, {&me, 1});
    // A failure may have ended the round while some had half of the result.
    for (const auto& each : members_)
        if (each && !each->is_gone && !each->link.forget_body()) {
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
    while (strangers_.size() < size() + most_strangers) {
        ucs::unique_fd socket(
            ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket) {
            adopt(std::move(socket));
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            ucs::log::error(oob_log,
                            "rank 0 cannot take a connection of each of {} ranks: {}; raise the "
                            "limit of open files (ulimit -n)",
                            size(), std::strerror(errno));
            const rank_t me = 0;
            fail(UCS_ERR_EXCEEDS_LIMIT, {&me, 1});
        }
        return;  // no more, or one that is gone again
    }
}

void tcp_root::adopt(ucs::unique_fd socket) {
    auto someone = std::make_unique<guest>(std::move(socket));
    someone->until = ucs::time::now() + time_to_greet;
    epoll_event event{};
    event.events = someone->interest = EPOLLIN;
    event.data.ptr = someone.get();
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, someone->link.fd(), &event) != 0) {
        complaints_.warn(oob_log, "a connection is dropped: {}", std::strerror(errno));
        return;
    }
    strangers_.push_back(std::move(someone));
}

// Not while events are served, which may be about them.
void tcp_root::drop_strangers() {
    const auto time = ucs::time::now();
    std::erase_if(strangers_, [&](const std::unique_ptr<guest>& each) {
        if (!each) return true;  // became a member
        const bool is_silent = !each->is_gone && time >= each->until;
        if (is_silent)
            complaints_.warn(oob_log, "somebody who connected to rank 0 said nothing for {} s",
                             ucs::time::to_seconds(time_to_greet));
        if (!is_silent && !each->is_gone) return false;
        // Closing alone does not end its events where a child of a fork has the socket, too.
        ignore(*each);
        return true;
    });
}

void tcp_root::ignore(const guest& which) noexcept {
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, which.link.fd(), nullptr));
}

void tcp_root::serve(guest& from, std::uint32_t events) {
    if (from.is_gone) return;
    if (from.is_ahead && (events & (EPOLLHUP | EPOLLERR)) != 0) return lose(from, "died or left");
    if ((events & EPOLLOUT) != 0) send_on(from);
    if (!from.is_gone && (events & ~std::uint32_t{EPOLLOUT}) != 0) read(from);
}

void tcp_root::watch(guest& which, std::uint32_t interest) noexcept {
    if (which.interest == interest) return;
    epoll_event event{};
    event.events = which.interest = interest;
    event.data.ptr = &which;
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, which.link.fd(), &event));
}

void tcp_root::read(guest& from) {
    while (!from.is_gone && !from.is_ahead && failed_ == UCS_OK) {
        if (!from.link.in_frame()) {
            const ucs_status_t status = from.link.read_header();
            if (status == UCS_INPROGRESS) return;
            if (status != UCS_OK)
                return lose(from,
                            status == UCS_ERR_INVALID_PARAM ? "sent nonsense" : "died or left");
        }
        if (!take_frame(from)) return;
    }
}

// Whether it was taken whole.
bool tcp_root::take_frame(guest& from) {
    const wire::header& what = from.link.header();
    if (from.rank == 0) return greet(from);
    if (what.from == from.rank && what.ranks == size() && what.job == job_) {
        if (what.what == kind::block) return take_block(from);
        if (what.what == kind::late) {
            static_cast<void>(from.link.read_body({}));
            if (what.round == now().number && !is_sharing_) fail_late();
            return true;
        }
    }
    lose(from, "sent what a rank does not send");
    return false;
}

bool tcp_root::take_block(guest& from) {
    const wire::header& what = from.link.header();
    if (from.has_given && what.round == now().number + 1) {
        from.is_ahead = true;
        watch(from, from.interest & ~std::uint32_t{EPOLLIN});
        return false;
    }
    if (from.has_given || what.round != now().number) {
        lose(from, "sent the block of a wrong round");
        return false;
    }
    if (what.content != now().bytes) {
        ucs::log::error(oob_log, "round {}: rank {} gives {} bytes and rank 0 {}: they must agree",
                        now().number, from.rank, what.content, now().bytes);
        fail(UCS_ERR_INVALID_PARAM, {&from.rank, 1});
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
    // A rank of another job may find its own rank 0 here later.
    if (what.job != job_) return refuse(from, UCS_ERR_BUSY, "of another job");
    if (what.ranks != size()) return refuse(from, UCS_ERR_REJECTED, "of a job of another size");
    if (what.from != 0 && members_[what.from]) {
        // Who has its result may have left, and be here for the store that follows at this port.
        read(*members_[what.from]);
        if (from.is_gone) return false;  // that has failed the round, and it was told
        if (members_[what.from]->is_gone) return refuse(from, UCS_ERR_BUSY, "it has left already");
    }
    if (what.from == 0 || members_[what.from])
        return refuse(from, UCS_ERR_REJECTED, "a rank that is here already");
    const auto place = std::find_if(strangers_.begin(), strangers_.end(),
                                    [&](const auto& each) { return each.get() == &from; });
    from.rank = what.from;
    members_[what.from] = std::move(*place);
    from.link.put({kind::welcome, 0, size(), job_});
    // It fits into an empty socket.
    if (from.link.flush() != UCS_OK) lose(from, "died or left");
    return true;
}

bool tcp_root::refuse(guest& from, ucs_status_t why, const char* text) {
    const wire::header& what = from.link.header();
    complaints_.warn(oob_log, "rank {} of {} wants to join and is refused: {} ({} ranks here)",
                     what.from, what.ranks, text, size());
    from.link.put({kind::failure, 0, size(), job_}, wire::failure{.why = why});
    static_cast<void>(from.link.flush());
    from.is_gone = true;
    return false;
}

void tcp_root::lose(guest& which, const char* how) {
    which.is_gone = true;
    ignore(which);
    if (which.rank == 0) {
        complaints_.warn(oob_log, "somebody who connected to rank 0 is dropped: {}", how);
        return;
    }
    if (is_sharing_) {  // it may have had all that it wanted
        if (which.link.is_sending()) --sending_;
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
        each->link.put({kind::blocks, 0, size(), job_, now().number}, all_blocks());
        ++sending_;
        send_on(*each);
    }
}

void tcp_root::send_on(guest& to) {
    if (!to.link.is_sending()) return;
    const ucs_status_t status = to.link.flush();
    if (status == UCS_OK) {
        --sending_;
        watch(to, to.interest & ~std::uint32_t{EPOLLOUT});
    } else if (status == UCS_INPROGRESS) {
        watch(to, to.interest | EPOLLOUT);
    } else {
        lose(to, "died or left");
    }
}

std::vector<rank_t> tcp_root::missing() const {
    std::vector<rank_t> who;
    for (rank_t rank = 1; rank < size(); ++rank) {
        const auto& each = members_[rank];
        if (is_sharing_ ? each->link.is_sending() && !each->is_gone : !each || !each->has_given)
            who.push_back(rank);
    }
    return who;
}

void tcp_root::fail_late() {
    const auto who = missing();
    std::vector<rank_t> absent;
    for (const rank_t rank : who)
        if (!members_[rank]) absent.push_back(rank);
    const char* const how = is_sharing_                   ? "did not take the result"
                            : who.size() == absent.size() ? "did not come"
                                                          : "did not take part";
    ucs::log::error(oob_log, "round {}: {} {} within {} s{}{}", now().number, rank_list(who), how,
                    timeout_seconds(),
                    absent.empty() || absent.size() == who.size() ? "" : "; never here: ",
                    absent.empty() || absent.size() == who.size() ? "" : rank_list(absent));
    fail(UCS_ERR_TIMED_OUT, who);
}

void tcp_root::fail(ucs_status_t why, std::span<const rank_t> culprits) {
    if (failed_ != UCS_OK) return;
    failed_ = why;
    accept_all();
    tell(why, culprits);
}

void tcp_root::tell(ucs_status_t why, std::span<const rank_t> culprits) noexcept {
    said_.why = why;
    said_.count = static_cast<std::uint32_t>(culprits.size());
    const std::size_t listed = std::min(culprits.size(), wire::failure::most_listed);
    try {
        said_.first.assign(culprits.begin(),
                           culprits.begin() + static_cast<std::ptrdiff_t>(listed));
    } catch (const std::bad_alloc&) {  // then without names
    }
    for (const auto& each : members_)
        if (each) tell(*each);
    for (const auto& each : strangers_)
        if (each) tell(*each);
}

// The socket stays open, as one that is closed too early loses what was sent last.
void tcp_root::tell(guest& whom) noexcept {
    if (whom.is_gone || whom.link.is_sending()) return;
    whom.link.put({kind::failure, 0, size(), job_, now().number}, said_);
    static_cast<void>(whom.link.flush());
    if (whom.rank == 0) whom.is_gone = true;
}

}  // namespace ucg::oob
