// Where peers knock: who has not said yet which interface it is.
#pragma once

#include "ucs/net/acceptor.hpp"
#include "uct/tcp/connection.hpp"
#include "uct/tcp/handshake.hpp"
#include "uct/tcp/settings.hpp"

namespace uct::tcp {

// Reads the greetings of those who connect and hands the sockets of peers to the interface. Part of
// the interface; driven by the worker's event loop.
class door {
public:
    door(iface& owner, ucs::async::event_loop& events);

    ucs_status_t open(const settings& options, listen_point& v4, listen_point& v6);

private:
    struct visitor;

    void on_greeting(visitor& who) noexcept;
    bool read_greeting(visitor& who) noexcept;
    void decide(visitor& who, bool end_older) noexcept;
    void judge(visitor& who, connection& mine);
    void wait_for_older(visitor& who) noexcept;
    void refuse(visitor& who, wire::refusal_reason reason) noexcept;
    void let_in(visitor& who, connection& into) noexcept;

    iface& owner_;
    std::vector<ucs::unique_fd> listeners_;
    ucs::net::acceptor acceptor_;
};

}  // namespace uct::tcp
