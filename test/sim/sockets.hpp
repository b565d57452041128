// The sockets between clients and servers of a run, with delays and broken connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ucs/random/seeded.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/tcp/ip_address.hpp"

namespace sim_test {

// A relay between each client and each server. It delivers bytes late and in pieces, and may break
// a connection after any byte. It uses AF_UNIX sockets because the kernel delivers their bytes at
// once, so a seed repeats its run. Owned by the run.
class sockets {
public:
    using pair = std::pair<std::size_t, std::size_t>;  // client, server
    // Called before a connection breaks.
    using listener_function = std::function<void(const pair&)>;

    sockets(ucs::sys::random& dice, double breaking, listener_function on_break)
        : dice_(dice), breaking_(breaking), on_break_(std::move(on_break)) {}

    // An address that the kernel chooses at bind().
    static uct::tcp::socket_address any_address();

    void add_server(std::size_t server, const uct::tcp::socket_address& address) {
        server_addresses_[server] = address;
    }
    // Address at which `client` reaches `server` through the relay.
    const uct::tcp::socket_address& relay_address(std::size_t client, std::size_t server);
    // The host of a process is gone: all of its connections end, and new ones are refused.
    void cut(std::size_t process);

    // Performs one random step. Returns 0 if no step was possible.
    unsigned turn();
    [[nodiscard]] std::string text() const;

private:
    struct relay_listener {
        pair between;
        ucs::unique_fd socket;
        uct::tcp::socket_address address;
    };
    // One direction of a relayed connection.
    struct flow {
        std::vector<std::byte> held;
        std::size_t carried = 0;
        bool ended = false;
    };
    struct relayed_connection {
        pair between;
        ucs::unique_fd ends[2];
        flow flows[2];
        int breaking_flow = -1;  // the direction that breaks after `breaks_after` bytes; -1: none
        std::size_t breaks_after = 0;
        bool over = false;
    };

    bool accept(relay_listener& listener);
    bool forward(relayed_connection& connection, int from);
    bool receive(relayed_connection& connection, int from);
    bool send(relayed_connection& connection, int from);
    void end(relayed_connection& connection) noexcept;

    ucs::sys::random& dice_;
    const double breaking_;
    const listener_function on_break_;
    std::map<std::size_t, uct::tcp::socket_address> server_addresses_;
    std::map<std::size_t, bool> gone_;
    std::map<pair, std::unique_ptr<relay_listener>> listeners_;
    std::vector<std::unique_ptr<relayed_connection>> connections_;
};

}  // namespace sim_test
