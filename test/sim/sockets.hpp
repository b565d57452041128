// The sockets between clients and servers of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ucs/type/unique_fd.hpp"
#include "uct/sim/random.hpp"
#include "uct/tcp/ip_address.hpp"

namespace sim_test {

// Stands between each client and each server: what one says reaches the other late and in pieces,
// and a connection may break at any byte. The sockets are those of the kernel, of a kind that it
// delivers at once (AF_UNIX), so that a seed repeats its run. Owned by the run.
class sockets {
public:
    using pair = std::pair<std::size_t, std::size_t>;  // client, server
    // Hears of a connection that is about to break.
    using listener_function = std::function<void(const pair&)>;

    sockets(uct::sim::random& dice, double breaking, listener_function on_break)
        : dice_(dice), breaking_(breaking), on_break_(std::move(on_break)) {}

    // An address of the kernel's choice.
    static uct::tcp::socket_address any_address();

    void add_server(std::size_t server, const uct::tcp::socket_address& at) { at_[server] = at; }
    // Where that client finds that server.
    const uct::tcp::socket_address& door(std::size_t client, std::size_t server);
    // A host is gone: nobody hears of it again.
    void cut(std::size_t process);

    // Perhaps lets something happen; 0: nothing was left to happen.
    unsigned turn();
    [[nodiscard]] std::string text() const;

private:
    struct door_record {
        pair between;
        ucs::unique_fd socket;
        uct::tcp::socket_address address;
    };
    // One direction of a passage.
    struct flow {
        std::vector<std::byte> held;
        std::size_t carried = 0;
        bool ended = false;
    };
    struct passage {
        pair between;
        ucs::unique_fd ends[2];
        flow flows[2];
        int breaking_flow = -1;  // where it breaks, and after how many bytes
        std::size_t breaks_after = 0;
        bool over = false;
    };

    bool welcome(door_record& at);
    bool move(passage& on, int from);
    bool take(passage& on, int from);
    bool give(passage& on, int from);
    void end(passage& on) noexcept;

    uct::sim::random& dice_;
    const double breaking_;
    const listener_function on_break_;
    std::map<std::size_t, uct::tcp::socket_address> at_;
    std::map<std::size_t, bool> gone_;
    std::map<pair, std::unique_ptr<door_record>> doors_;
    std::vector<std::unique_ptr<passage>> passages_;
};

}  // namespace sim_test
