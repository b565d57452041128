// Accepts connections on listening sockets that any process may reach, at a bounded cost.
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
#include "ucs/security/key_handshake.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

// Accepts from listening descriptors and keeps each connection until its peer has authenticated as
// the user of this class requires. `admission` is the policy. The user of the class defines what
// peers send, and takes over authenticated connections. Owner context; driven by the event loop.
class acceptor {
public:
    // An accepted connection whose peer has not authenticated yet. Users derive from it and add the
    // connection, which they own and whose descriptor is `fd`, and the data that they have read.
    class pending : public admission::candidate {
    public:
        // -1: on_turn() creates the descriptor.
        explicit pending(int fd) noexcept : fd_(fd) {}
        pending(const pending&) = delete;
        pending& operator=(const pending&) = delete;
        virtual ~pending() = default;

        // Called when reading of the connection begins: right after accepting, or when its turn
        // comes. Returns its descriptor, or -1 to close a connection that cannot be served.
        [[nodiscard]] virtual int on_turn() noexcept { return fd_; }
        // Called right after on_turn() and whenever the descriptor is readable, including at the
        // end of the stream. May remove or reject this connection.
        virtual void on_readable() noexcept = 0;
        // Called from time to time while the connection is deferred. May remove or reject it.
        virtual void on_tick(ucs::time::nanoseconds) noexcept {}
        // Called before the acceptor closes the connection in favour of another one.
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

    // Many peers of one job may share a host, so the quota of a host is not much below the total.
    static constexpr admission_limits default_limits(
        ucs::time::nanoseconds time_to_prove) noexcept {
        return {.most = 256, .most_per_origin = 192, .time_to_prove = time_to_prove};
    }

    // Limits for peers that need one more round trip to authenticate. Each has `turn_length` for
    // it. If many peers connect at once, the others wait, as far as the limit of descriptors
    // allows.
    [[nodiscard]] static admission_limits limits_with_turns(
        ucs::time::nanoseconds time_to_prove, ucs::time::nanoseconds turn_length) noexcept;

    struct settings {
        const ucs::log::component& log;
        ucs::log::throttle& rejected;
        std::string name;  // name of the listener, for log lines
        admission_limits limits;
        // Accepts one connection. If it returns nullptr, errno has the reason, as for accept(). May
        // throw std::bad_alloc.
        std::function<std::unique_ptr<pending>(int listener)> accept;
        // The most connections that are accepted in a row before the loop handles other events.
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

    // Starts to accept from these descriptors, which outlive the acceptor. Called once. Returns
    // UCS_OK or UCS_ERR_NO_MEMORY.
    ucs_status_t open(std::vector<int> listeners) noexcept;

    // While `on`, further peers stay in the kernel's queue.
    void hold(bool on) noexcept { listening_.hold(on); }
    // Records that the peer sent a valid first record: silent connections are closed before this
    // one.
    void prefer(pending& connection) noexcept { admission_.prefer(connection); }
    // Evaluates the key handshake of this connection. Called after each
    // step of the key handshake. Returns whether both sides agree. If the key handshake has failed,
    // removes the connection and logs the reason, unless the peer merely disconnected.
    [[nodiscard]] bool has_agreed(pending& connection,
                                  const security::key_handshake& proving) noexcept;
    // Gives the connection a turn until `end`, before its peer has sent anything.
    void start_turn(pending& connection, ucs::time::nanoseconds end) noexcept {
        admission_.start_turn(connection, end);
    }
    // Defers the decision to the user's on_tick(): the connection is preferred, is not read
    // meanwhile, and has only the user's deadline.
    void defer(pending& connection) noexcept;
    // Removes a connection that has authenticated or ended. Its socket is closed with it, unless
    // the user has taken it.
    void remove(pending& connection) noexcept;
    // Closes the connection. If `reason` is not null, logs "NAME: the peer at ADDRESS `reason`".
    void reject(pending& connection, const char* reason) noexcept;

    // The number of connections that have not authenticated, including those that wait for their
    // turn.
    [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }
    // The number of connections that were closed in favour of others.
    [[nodiscard]] std::uint64_t displaced() const noexcept { return displaced_; }

private:
    void accept_from(int listener) noexcept;
    bool admit(std::unique_ptr<pending> fresh) noexcept;
    bool begin(pending& connection) noexcept;
    void begin_turns() noexcept;
    void enforce_limits() noexcept;
    void displace(admission::candidate& candidate) noexcept;
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
    bool has_reported_flood_ = false;
    bool has_reported_shortage_ = false;
    ucs::async::listener_watch listening_;
};

// Accepts the next connection of a listening socket, without blocking. If the result is empty,
// errno has the reason.
[[nodiscard]] ucs::unique_fd accept_stream(int listener) noexcept;

}  // namespace ucs::net
