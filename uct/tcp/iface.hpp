// A tcp interface: one network device, opened by a worker.
#pragma once

#include <sys/epoll.h>

#include <map>
#include <memory>
#include <vector>

#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/route.hpp"
#include "uct/base/base_iface.hpp"
#include "uct/tcp/connection.hpp"
#include "uct/tcp/settings.hpp"
#include "uct/tcp/setup/credentials.hpp"
#include "uct/tcp/setup/listener.hpp"
#include "uct/tcp/socket.hpp"

namespace uct::tcp {

// Owns the connections to all peers, at most one per peer address for both directions, and the
// listener for new peers. Owned by the worker; owner context.
class iface final : public base_iface {
public:
    static ucs::result<std::unique_ptr<uct::iface>> open(const resource& where,
                                                         const iface_params& params);
    ~iface() override;

    unsigned progress() override;
    [[nodiscard]] bool has_work() const noexcept override;
    // Sockets and timers wake the worker, so there is nothing to arm.
    [[nodiscard]] ucs_status_t arm() noexcept override { return fall_asleep(); }
    void pack_address(std::span<std::byte> into) const override;
    [[nodiscard]] reachability check_reachable(std::span<const std::byte> bytes) const override;
    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte> bytes) override;
    [[nodiscard]] std::uint64_t connection_of(const peer_bytes& message) const noexcept override;
    bool end_connection(std::uint64_t number, ucs_status_t status) noexcept override;
    void append_connections(std::vector<std::uint64_t>& into) const override;
    void describe(ucs::vfs::directory& into) const override;

    // --- for connections and the listener
    [[nodiscard]] std::uint64_t id() const noexcept { return address_.iface_id; }
    [[nodiscard]] const credentials& own() const noexcept { return credentials_; }
    [[nodiscard]] const settings& options() const noexcept { return options_; }
    [[nodiscard]] bool is_loopback() const noexcept { return address_.loopback; }
    [[nodiscard]] buffer_pool& pool() noexcept { return pool_; }
    [[nodiscard]] receiver::handlers handlers() const noexcept {
        return receiver::handlers(&handler(0), am_id_count);
    }
    [[nodiscard]] unfinished_frames& unfinished() noexcept { return unfinished_; }
    // Space for one frame of the longest copied message.
    [[nodiscard]] std::byte* scratch() noexcept { return scratch_.get(); }

    [[nodiscard]] std::uint32_t next_attempt() noexcept { return ++attempt_; }
    [[nodiscard]] std::uint32_t last_attempt() const noexcept { return attempt_; }

    [[nodiscard]] unused_connections& unused() noexcept { return unused_; }
    void watch(int fd, int operation, std::uint32_t events, connection& link);
    void forget_socket(int fd, const connection& link) noexcept;
    void attend(connection& link) noexcept;
    // Messages that are delivered from now on come over this connection.
    void note_reading(const connection& link) noexcept { reading_ = &link; }
    void forget(const connection& gone) noexcept {
        if (reading_ == &gone) reading_ = nullptr;
    }
    void report(ep& user, ucs_status_t status) noexcept { note_failure(user, status); }
    void need_ticks() noexcept;

    // Returns the connection that a greeting of that interface belongs to; creates one if there is
    // none.
    [[nodiscard]] connection& connection_for_greeting(const peer_key& peer);

private:
    iface(const resource& where, const iface_params& params, const device& own, settings options,
          bool encrypted, ucs::unique_fd epoll);
    ucs_status_t open_listener();
    void set_attributes(const device& own);
    connection& connection_to(const peer_key& peer);
    [[nodiscard]] connection* find(std::uint64_t number) noexcept;

    // iface_progress.cpp
    unsigned poll_sockets();
    unsigned settle_all();
    void remove_if_over(connection& link);
    void on_tick();
    void close_with_goodbye();
    bool wait_for_some_unsent() const;

    settings options_;
    credentials credentials_;
    address address_;
    std::uint32_t device_index_;
    ucs::net::kernel_routes routes_;
    mutable reach reach_;
    buffer_pool pool_;
    buffer scratch_;
    ucs::unique_fd epoll_;
    std::uint32_t attempt_ = 0;
    unsigned sockets_ = 0;                 // in epoll_
    connection* hot_ = nullptr;            // the connection that received last
    const connection* reading_ = nullptr;  // the connection whose messages were delivered last
    unsigned hot_misses_ = 0;
    unsigned until_poll_ = 0;
    unused_connections unused_;
    unfinished_frames unfinished_;
    std::map<peer_key, std::unique_ptr<connection>> peers_;
    // Failed connections that still have endpoints, and the receiving ends of sends to this
    // interface itself.
    std::vector<std::unique_ptr<connection>> others_;
    using attended_list = ucs::datastruct::list<connection, &connection::attended_hook>;
    attended_list attended_;
    ucs::async::event_loop::timer_id timer_ = 0;
    bool ticking_ = false;
    bool ticks_missing_ = false;  // no memory for the timer
    listener listener_;
};

}  // namespace uct::tcp
