// Accepts connections from anybody who can reach a listening socket, at a bounded cost.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "ucs/async/listener_watch.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/net/admission.hpp"
#include "ucs/net/ip_address.hpp"
#include "ucs/security/opening.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

// Accepts from listening descriptors and keeps each connection until its peer has proven what the
// user of this class asks for. The policy is that of `admission`. What peers send, and what becomes
// of a proven connection, is up to the user. Owner context; driven by the event loop.
class acceptor {
public:
    // A connection that was accepted and has not proven itself. Users derive from it and add the
    // connection, which they own and of which `fd` is the descriptor, and what they have read.
    class pending : public admission::candidate {
    public:
        // -1: the descriptor is made by on_turn().
        explicit pending(int fd) noexcept : fd_(fd) {}
        pending(const pending&) = delete;
        pending& operator=(const pending&) = delete;
        virtual ~pending() = default;

        // Called when the connection is to be read from now on, right after accepting or when it
        // has waited for its turn. Returns its descriptor; -1: it cannot be served, and ends.
        [[nodiscard]] virtual int on_turn() noexcept { return fd_; }
        // Called right after that and whenever there is something to read, an end of the
        // stream included. May remove or reject this connection.
        virtual void on_readable() noexcept = 0;
        // Called from time to time while the connection is deferred. May remove or reject it.
        virtual void on_tick(ucs::time::nanoseconds) noexcept {}
        // Called before the acceptor closes the connection to make room for another one.
        virtual void on_displaced() noexcept {}
        // Called before the acceptor is destroyed, and this connection with it.
        virtual void on_shutdown() noexcept {}
        // The address of the peer, for log lines and quotas.
        [[nodiscard]] virtual socket_address remote() const noexcept;

    private:
        friend class acceptor;
        std::list<std::unique_ptr<pending>>::iterator position_;
        int fd_;
        bool is_watched_ = false;
        bool is_deferred_ = false;
    };

    // Many peers of one job may share a host, so its quota is not much less than the whole.
    static constexpr admission_limits default_limits(
        ucs::time::nanoseconds time_to_prove) noexcept {
        return {.most = 256, .most_per_origin = 192, .time_to_prove = time_to_prove};
    }

    // Limits for peers whose proof takes a further round trip, for which each has `turn_length`:
    // of a crowd that comes at once many wait, as far as the limit of descriptors allows.
    [[nodiscard]] static admission_limits limits_with_turns(
        ucs::time::nanoseconds time_to_prove, ucs::time::nanoseconds turn_length) noexcept;

    struct settings {
        const ucs::log::component& log;
        ucs::log::throttle& rejected;
        std::string name;  // of the listener, for log lines
        admission_limits limits;
        // Accepts one connection. nullptr: errno says why there is none, as that of accept() does.
        // May throw std::bad_alloc.
        std::function<std::unique_ptr<pending>(int listener)> accept;
        // Accepted in a row before other events of the loop get their turn.
        unsigned accepts_per_turn = 64;
    };

    acceptor(ucs::async::event_loop& events, settings given)
        : events_(events),
          settings_(std::move(given)),
          admission_(settings_.limits),
          listening_(events, [this](int listener) { accept_from(listener); }) {}
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;
    ~acceptor();

    // Accepts from these descriptors from now on. They outlive the acceptor. Called once.
    // UCS_ERR_NO_MEMORY.
    ucs_status_t open(std::vector<int> listeners) noexcept;

    // Leaves further peers in the queue of the kernel until the user calls it with `false`.
    void hold(bool on) noexcept { listening_.hold(on); }
    // The peer sent a valid first record: silent connections end before this one does.
    void prefer(pending& which) noexcept { admission_.prefer(which); }
    // Judges the opening of this connection. Called after each time that the opening went on.
    // Returns whether both sides agree. If the opening has failed, the connection is removed, and
    // one line says why unless the peer merely left.
    [[nodiscard]] bool has_agreed(pending& which, const security::opening& proving) noexcept;
    // The connection has a turn until `end`, before its peer has sent anything.
    void start_turn(pending& which, ucs::time::nanoseconds end) noexcept {
        admission_.start_turn(which, end);
    }
    // The user decides later, in on_tick: the connection is preferred, is not read meanwhile, and
    // has no deadline but the user's.
    void defer(pending& which) noexcept;
    // The connection is proven or over. Its socket is closed with it, unless the user took it.
    void remove(pending& which) noexcept;
    // Closes the connection. With a reason it writes a line: "NAME: the peer at ADDRESS `reason`".
    void reject(pending& which, const char* reason) noexcept;

    // Connections that have not proven themselves, those that wait for their turn included.
    [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }
    // Connections that were closed to make room for others.
    [[nodiscard]] std::uint64_t displaced() const noexcept { return displaced_; }

private:
    void accept_from(int listener) noexcept;
    bool admit(std::unique_ptr<pending> fresh) noexcept;
    bool begin(pending& which) noexcept;
    void begin_turns() noexcept;
    void enforce_limits() noexcept;
    void displace(admission::candidate& which) noexcept;
    bool displace_for_resources() noexcept;
    void wait_for_resources(int error) noexcept;
    bool need_ticks() noexcept;
    void on_tick() noexcept;

    ucs::async::event_loop& events_;
    const settings settings_;
    admission admission_;
    std::list<std::unique_ptr<pending>> pending_;
    std::uint64_t accepted_ = 0;
    std::uint64_t displaced_ = 0;
    ucs::async::event_loop::timer_id timer_ = 0;
    bool has_reported_crowd_ = false;
    bool has_reported_shortage_ = false;
    ucs::async::listener_watch listening_;
};

// The next connection of a listening socket, non-blocking. Empty: errno says why there is none.
[[nodiscard]] ucs::unique_fd accept_stream(int listener) noexcept;

}  // namespace ucs::net
