#include "ucs/net/acceptor.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/net/socket.hpp"
#include "ucs/type/allocated.hpp"

namespace ucs::net {

namespace {

constexpr ucs::time::nanoseconds tick_interval = 10 * ucs::time::millisecond;
// Limit of connections that wait for their turn, because a thousand ranks with the same IP address
// may connect at once. Waiting connections also take at most a quarter of the file descriptors.
constexpr std::size_t most_waiting = 1024;

}  // namespace

ucs::unique_fd accept_stream(int listener) noexcept {
    return sys::accept_within_budget(listener);
}

socket_address acceptor::pending::remote() const noexcept {
    return remote_address(fd_);
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
        if (!allocated([&] { fresh = settings_.accept(listener); }))
            return wait_for_resources(ENOMEM);
        const int error = errno;
        if (fresh != nullptr) {
            if (!admit(std::move(fresh))) return wait_for_resources(ENOMEM);
            if (listening_.is_held()) return;  // further connections wait in the kernel's queue
        } else if (error == EAGAIN || error == EWOULDBLOCK) {
            has_reported_shortage_ = false;
            if (pending_.size() < settings_.limits.most / 2) has_reported_flood_ = false;
            return;
        } else if (error != ECONNABORTED && error != EINTR && !displace_for_resources()) {
            return wait_for_resources(error);
        }
    }
}

// Returns false if there is no memory for the connection; it is then closed.
bool acceptor::admit(std::unique_ptr<pending> fresh) noexcept {
    if (!allocated([&] { pending_.push_back(std::move(fresh)); })) return false;
    ++accepted_;
    pending& connection = *pending_.back();
    connection.position_ = std::prev(pending_.end());
    const auto now = ucs::time::now();
    if (!need_ticks() ||
        admission_.add(connection, origin::host(connection.remote().ip()), now) != UCS_OK ||
        (!connection.is_waiting() && !begin(connection))) {
        remove(connection);
        return false;
    }
    enforce_limits();
    return true;
}

// Returns false if there is no memory; the caller then removes the connection.
bool acceptor::begin(pending& connection) noexcept {
    connection.fd_ = connection.on_turn();
    if (connection.fd_ < 0) {
        remove(connection);
        return true;
    }
    const ucs_status_t status =
        events_.add(connection.fd_, EPOLLIN, [this, &connection](std::uint32_t) {
            connection.on_readable();
            begin_turns();
        });
    if (status != UCS_OK) return false;
    connection.is_watched_ = true;
    connection.on_readable();  // the first record has usually arrived already
    return true;
}

// Starts waiting connections as far as the limits allow. remove() must not call this, because its
// callers still use state that the start of another connection may change.
void acceptor::begin_turns() noexcept {
    if (listening_.is_held() || admission_.waiting() == 0) return;
    while (admission::candidate* const next = admission_.next_turn(ucs::time::now())) {
        auto& connection = static_cast<pending&>(*next);
        if (!begin(connection)) reject(connection, nullptr);
        if (listening_.is_held()) break;
    }
    enforce_limits();
}

void acceptor::enforce_limits() noexcept {
    const auto now = ucs::time::now();
    while (admission::candidate* const surplus = admission_.excess(now)) {
        if (!std::exchange(has_reported_flood_, true)) {
            settings_.rejected.warn(
                settings_.log,
                "{}: {} connections have not identified themselves, the last one from {}; the "
                "oldest are closed. If they do not come from your jobs, close this port to "
                "other hosts with a firewall",
                settings_.name, pending_.size(),
                static_cast<const pending*>(surplus)->remote().text());
        }
        displace(*surplus);
    }
}

void acceptor::displace(admission::candidate& candidate) noexcept {
    ++displaced_;
    auto& connection = static_cast<pending&>(candidate);
    connection.on_displaced();
    remove(connection);
}

// Closes a connection that has not authenticated, because such connections may have used up the
// descriptors. Returns false if none may be closed.
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
                                settings_.name, error_text(error));
    }
    listening_.pause();
}

void acceptor::defer(pending& connection) noexcept {
    if (std::exchange(connection.is_deferred_, true)) return;
    admission_.prefer(connection);
    admission_.set_deadline(connection, admission::never);
    if (std::exchange(connection.is_watched_, false)) events_.remove(connection.fd_);
}

void acceptor::remove(pending& connection) noexcept {
    if (connection.is_watched_) events_.remove(connection.fd_);
    admission_.remove(connection);
    pending_.erase(connection.position_);
}

void acceptor::reject(pending& connection, const char* reason) noexcept {
    if (reason != nullptr) {
        settings_.rejected.warn(settings_.log, "{}: the peer at {} {}; its connection is closed",
                                settings_.name, connection.remote().text(), reason);
    }
    remove(connection);
}

bool acceptor::has_agreed(pending& connection, const security::key_handshake& proving) noexcept {
    using security::key_handshake;
    if (proving.now() == key_handshake::step::failed) {
        if (proving.failure() != security::handshake_failure::interrupted) {
            settings_.rejected.warn(settings_.log, "{}: no connection with the client at {}: {}",
                                    settings_.name, connection.remote().text(),
                                    explain(proving.failure()));
        }
        remove(connection);
        return false;
    }
    if (proving.has_record()) prefer(connection);
    return proving.now() == key_handshake::step::agreed;
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
        pending& connection = **next++;
        if (connection.is_deferred_) connection.on_tick(now);
    }
    enforce_limits();
    begin_turns();
    if (!pending_.empty()) return;
    events_.remove_timer(timer_);
    timer_ = 0;
}

}  // namespace ucs::net
