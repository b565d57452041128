#include "ucs/net/acceptor.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "ucs/net/descriptor_share.hpp"
#include "ucs/sys/descriptor_budget.hpp"

namespace ucs::net {

namespace {

constexpr ucs::time::nanoseconds tick_interval = 10 * ucs::time::millisecond;
// Connections that wait for their turn. With them a thousand ranks behind one address may come at
// once. They take no more than a quarter of the descriptors.
constexpr std::size_t most_waiting = 1024;

const char* text_of(int error) noexcept {
    const char* text = ::strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}

}  // namespace

ucs::unique_fd accept_stream(int listener) noexcept {
    return sys::accept_within_budget(listener);
}

socket_address acceptor::pending::remote() const noexcept {
    socket_address peer;
    if (::getpeername(fd_, peer.data(), peer.size_to_fill()) != 0) return {};
    return peer;
}

admission_limits acceptor::limits_with_turns(ucs::time::nanoseconds time_to_prove,
                                             ucs::time::nanoseconds turn_length) noexcept {
    auto chosen = default_limits(time_to_prove);
    chosen.turn_length = turn_length;
    chosen.most_waiting = descriptor_share(4, 0, most_waiting);
    return chosen;
}

acceptor::~acceptor() {
    for (const auto& each : pending_)
        each->on_shutdown();
    while (!pending_.empty())
        remove(*pending_.front());
    if (timer_ != 0) events_.remove_timer(timer_);
}

ucs_status_t acceptor::open(std::vector<int> listeners) noexcept {
    return listening_.start(std::move(listeners));
}

void acceptor::accept_from(int listener) noexcept {
    for (unsigned i = 0; i < settings_.accepts_per_turn; ++i) {
        std::unique_ptr<pending> fresh;
        try {
            fresh = settings_.accept(listener);
        } catch (const std::bad_alloc&) {
            return wait_for_resources(ENOMEM);
        }
        const int error = errno;
        if (fresh != nullptr) {
            if (!admit(std::move(fresh))) return wait_for_resources(ENOMEM);
            if (listening_.is_held()) return;  // others wait in the queue of the kernel
        } else if (error == EAGAIN || error == EWOULDBLOCK) {
            has_reported_shortage_ = false;
            if (pending_.size() < settings_.limits.most / 2) has_reported_crowd_ = false;
            return;
        } else if (error != ECONNABORTED && error != EINTR && !displace_for_resources()) {
            return wait_for_resources(error);
        }
    }
}

// False: there is no memory for the connection, and it is closed.
bool acceptor::admit(std::unique_ptr<pending> fresh) noexcept {
    try {
        pending_.push_back(std::move(fresh));
    } catch (const std::bad_alloc&) {
        return false;
    }
    ++accepted_;
    pending& which = *pending_.back();
    which.position_ = std::prev(pending_.end());
    const auto now = ucs::time::now();
    if (!need_ticks() || admission_.add(which, origin::host(which.remote().ip()), now) != UCS_OK ||
        (!which.is_waiting() && !begin(which))) {
        remove(which);
        return false;
    }
    enforce_limits();
    return true;
}

// False: there is no memory, and the caller removes the connection.
bool acceptor::begin(pending& which) noexcept {
    which.fd_ = which.on_turn();
    if (which.fd_ < 0) {
        remove(which);
        return true;
    }
    const ucs_status_t status = events_.add(which.fd_, EPOLLIN, [this, &which](std::uint32_t) {
        which.on_readable();
        begin_turns();
    });
    if (status != UCS_OK) return false;
    which.is_watched_ = true;
    which.on_readable();  // the first record is usually there already
    return true;
}

// Must not be called by remove(), whose callers are about to use what another connection may
// change.
void acceptor::begin_turns() noexcept {
    if (listening_.is_held() || admission_.waiting() == 0) return;
    while (admission::candidate* const next = admission_.next_turn(ucs::time::now())) {
        auto& which = static_cast<pending&>(*next);
        if (!begin(which)) reject(which, nullptr);
        if (listening_.is_held()) break;
    }
    enforce_limits();
}

void acceptor::enforce_limits() noexcept {
    const auto now = ucs::time::now();
    while (admission::candidate* const surplus = admission_.excess(now)) {
        if (!std::exchange(has_reported_crowd_, true)) {
            settings_.rejected.warn(
                settings_.log,
                "{}: {} connections have not identified themselves, the last one from {}; the "
                "oldest are closed. If no job of yours makes them, keep strangers from this port "
                "by a firewall",
                settings_.name, pending_.size(),
                static_cast<const pending*>(surplus)->remote().text());
        }
        displace(*surplus);
    }
}

void acceptor::displace(admission::candidate& which) noexcept {
    ++displaced_;
    auto& connection = static_cast<pending&>(which);
    connection.on_displaced();
    remove(connection);
}

// A crowd may be what has taken the descriptors.
bool acceptor::displace_for_resources() noexcept {
    admission::candidate* const least = admission_.least();
    if (least == nullptr || least->is_preferred()) return false;
    displace(*least);
    return true;
}

void acceptor::wait_for_resources(int error) noexcept {
    if (!std::exchange(has_reported_shortage_, true)) {
        settings_.rejected.warn(settings_.log,
                                "accept() on {}: {}; peers that connect have to wait",
                                settings_.name, text_of(error));
    }
    listening_.pause();
}

void acceptor::defer(pending& which) noexcept {
    if (std::exchange(which.is_deferred_, true)) return;
    admission_.prefer(which);
    admission_.set_deadline(which, admission::never);
    if (std::exchange(which.is_watched_, false)) events_.remove(which.fd_);
}

void acceptor::remove(pending& which) noexcept {
    if (which.is_watched_) events_.remove(which.fd_);
    admission_.remove(which);
    pending_.erase(which.position_);
}

void acceptor::reject(pending& which, const char* reason) noexcept {
    if (reason != nullptr) {
        settings_.rejected.warn(settings_.log, "{}: the peer at {} {}; its connection is closed",
                                settings_.name, which.remote().text(), reason);
    }
    remove(which);
}

bool acceptor::has_agreed(pending& which, const security::opening& proving) noexcept {
    using security::opening;
    if (proving.now() == opening::step::failed) {
        if (proving.failure() != security::opening_failure::interrupted) {
            settings_.rejected.warn(settings_.log, "{}: no connection with the client at {}: {}",
                                    settings_.name, which.remote().text(),
                                    explain(proving.failure()));
        }
        remove(which);
        return false;
    }
    if (proving.has_record()) prefer(which);
    return proving.now() == opening::step::agreed;
}

bool acceptor::need_ticks() noexcept {
    if (timer_ == 0) timer_ = events_.add_timer(tick_interval, [this] { on_tick(); });
    return timer_ != 0;
}

void acceptor::on_tick() noexcept {
    const ucs::time::nanoseconds now = ucs::time::now();
    while (admission::candidate* const late = admission_.overdue(now))
        reject(static_cast<pending&>(*late), "connected and did not identify itself in time");
    for (auto next = pending_.begin(); next != pending_.end();) {
        pending& which = **next++;
        if (which.is_deferred_) which.on_tick(now);
    }
    enforce_limits();
    begin_turns();
    if (!pending_.empty()) return;
    events_.remove_timer(timer_);
    timer_ = 0;
}

}  // namespace ucs::net
