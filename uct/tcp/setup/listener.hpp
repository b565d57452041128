// The listening sockets of an interface, and new connections whose peer is not authenticated yet.
#pragma once

#include "ucs/net/acceptor.hpp"
#include "uct/tcp/connection.hpp"
#include "uct/tcp/settings.hpp"
#include "uct/tcp/setup/handshake.hpp"

namespace uct::tcp {

// Reads the greetings of new connections and hands the sockets of proven peers to the interface.
// Part of the interface; driven by the worker's event loop.
class listener {
public:
    listener(iface& owner, ucs::async::event_loop& events);

    ucs_status_t open(const settings& options, listen_point& v4, listen_point& v6);

private:
    struct pending_connection;

    void on_greeting(pending_connection& pending) noexcept;
    bool read_greeting(pending_connection& pending) noexcept;
    void decide(pending_connection& pending, bool end_older) noexcept;
    void check_greeting(pending_connection& pending, connection& existing);
    void wait_for_older(pending_connection& pending) noexcept;
    void refuse(pending_connection& pending, wire::refusal_reason reason) noexcept;
    void welcome(pending_connection& pending, connection& into) noexcept;

    iface& owner_;
    std::vector<ucs::unique_fd> listeners_;
    ucs::net::acceptor acceptor_;
};

}  // namespace uct::tcp
