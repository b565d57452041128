#include "test/sim/sockets.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "uct/tcp/socket.hpp"

namespace sim_test {

namespace {

ucs::unique_fd open_socket() {
    ucs::unique_fd made = uct::tcp::open_stream(AF_UNIX);
    if (!made) std::abort();
    return made;
}

}  // namespace

uct::tcp::socket_address sockets::any_address() {
    uct::tcp::socket_address any;
    any.data()->sa_family = AF_UNIX;
    *any.size_to_fill() = sizeof any.data()->sa_family;
    return any;
}

const uct::tcp::socket_address& sockets::relay_address(std::size_t client, std::size_t server) {
    std::unique_ptr<relay_listener>& listener = listeners_[{client, server}];
    if (listener == nullptr) {
        listener =
            std::make_unique<relay_listener>(relay_listener{{client, server}, open_socket(), {}});
        const uct::tcp::socket_address any = any_address();
        if (::bind(listener->socket.get(), any.data(), any.size()) != 0 ||
            ::listen(listener->socket.get(), SOMAXCONN) != 0) {
            std::abort();
        }
        listener->address = uct::tcp::local_address(listener->socket.get());
    }
    return listener->address;
}

void sockets::cut(std::size_t process) {
    gone_[process] = true;
    for (const auto& each : connections_) {
        if (each->between.first == process || each->between.second == process) end(*each);
    }
}

unsigned sockets::turn() {
    for (const auto& [between, listener] : listeners_) {
        if (accept(*listener)) return 1;
    }
    std::erase_if(connections_, [](const auto& each) { return each->over; });
    if (connections_.empty()) return 0;
    // Start with a random direction; use the first one that can make progress.
    const std::size_t first = dice_.below(2 * connections_.size());
    for (std::size_t i = 0; i < 2 * connections_.size(); ++i) {
        const std::size_t chosen = (first + i) % (2 * connections_.size());
        if (forward(*connections_[chosen / 2], static_cast<int>(chosen % 2))) return 1;
    }
    return 0;
}

// Accepts a client and connects to the server. If the server does not listen any more, the client's
// socket closes.
bool sockets::accept(relay_listener& listener) {
    ucs::unique_fd client(
        ::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) return false;
    ucs::unique_fd server = open_socket();
    const uct::tcp::socket_address& where = server_addresses_[listener.between.second];
    if (gone_[listener.between.first] || gone_[listener.between.second] ||
        ::connect(server.get(), where.data(), where.size()) != 0) {
        return true;
    }
    auto fresh = std::make_unique<relayed_connection>();
    fresh->between = listener.between;
    fresh->ends[0] = std::move(client);
    fresh->ends[1] = std::move(server);
    if (dice_.chance(breaking_)) {
        // The client's messages have at most some hundred bytes, those of the server sixteen.
        fresh->breaking_flow = dice_.chance(0.7) ? 0 : 1;
        fresh->breaks_after = dice_.below(fresh->breaking_flow == 0 ? 160 : 20);
    }
    connections_.push_back(std::move(fresh));
    return true;
}

bool sockets::forward(relayed_connection& connection, int from) {
    if (connection.over) return false;
    flow& direction = connection.flows[from];
    if (connection.breaking_flow == from && direction.carried >= connection.breaks_after) {
        on_break_(connection.between);
        end(connection);
        return true;
    }
    // Held bytes are delivered now or later.
    if (!direction.held.empty() && dice_.chance(0.5)) return send(connection, from);
    return receive(connection, from) || send(connection, from);
}

bool sockets::receive(relayed_connection& connection, int from) {
    flow& direction = connection.flows[from];
    if (direction.ended) return false;
    std::array<std::byte, 64> some;
    const ssize_t got = ::recv(connection.ends[from].get(), some.data(),
                               dice_.between(1, some.size()), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (got > 0) {
        direction.held.insert(direction.held.end(), some.begin(), some.begin() + got);
        return true;
    }
    direction.ended = true;
    return true;
}

bool sockets::send(relayed_connection& connection, int from) {
    flow& direction = connection.flows[from];
    if (direction.held.empty()) {
        if (direction.ended) end(connection);
        return direction.ended;
    }
    std::size_t count = dice_.between(1, direction.held.size());
    if (connection.breaking_flow == from)
        count = std::min(count, connection.breaks_after - direction.carried);
    const ssize_t sent = ::send(connection.ends[1 - from].get(), direction.held.data(), count,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
        end(connection);
        return true;
    }
    direction.carried += static_cast<std::size_t>(sent);
    direction.held.erase(direction.held.begin(), direction.held.begin() + sent);
    return true;
}

void sockets::end(relayed_connection& connection) noexcept {
    connection.over = true;
    for (ucs::unique_fd& each : connection.ends)
        each.reset();
}

std::string sockets::text() const {
    std::string list;
    for (const auto& each : connections_) {
        list += fmt::format("# socket between client {} and server {}: {} and {} bytes{}\n",
                            each->between.first, each->between.second, each->flows[0].carried,
                            each->flows[1].carried, each->over ? ", over" : "");
    }
    return list;
}

}  // namespace sim_test
