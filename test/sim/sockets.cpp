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

const uct::tcp::socket_address& sockets::door(std::size_t client, std::size_t server) {
    std::unique_ptr<door_record>& at = doors_[{client, server}];
    if (at == nullptr) {
        at = std::make_unique<door_record>(door_record{{client, server}, open_socket(), {}});
        const uct::tcp::socket_address any = any_address();
        if (::bind(at->socket.get(), any.data(), any.size()) != 0 ||
            ::listen(at->socket.get(), SOMAXCONN) != 0) {
            std::abort();
        }
        at->address = uct::tcp::local_address(at->socket.get());
    }
    return at->address;
}

void sockets::cut(std::size_t process) {
    gone_[process] = true;
    for (const auto& each : passages_) {
        if (each->between.first == process || each->between.second == process) end(*each);
    }
}

unsigned sockets::turn() {
    for (const auto& [between, at] : doors_) {
        if (welcome(*at)) return 1;
    }
    std::erase_if(passages_, [](const auto& each) { return each->over; });
    if (passages_.empty()) return 0;
    // Whichever comes first of those that have something to carry.
    const std::size_t first = dice_.below(2 * passages_.size());
    for (std::size_t i = 0; i < 2 * passages_.size(); ++i) {
        const std::size_t chosen = (first + i) % (2 * passages_.size());
        if (move(*passages_[chosen / 2], static_cast<int>(chosen % 2))) return 1;
    }
    return 0;
}

// Somebody knocked: the passage begins, unless the server does not listen any more.
bool sockets::welcome(door_record& at) {
    ucs::unique_fd client(
        ::accept4(at.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) return false;
    ucs::unique_fd server = open_socket();
    const uct::tcp::socket_address& where = at_[at.between.second];
    if (gone_[at.between.first] || gone_[at.between.second] ||
        ::connect(server.get(), where.data(), where.size()) != 0) {
        return true;
    }
    auto fresh = std::make_unique<passage>();
    fresh->between = at.between;
    fresh->ends[0] = std::move(client);
    fresh->ends[1] = std::move(server);
    if (dice_.chance(breaking_)) {
        // The longest message of the client has some hundred bytes, that of the server sixteen.
        fresh->breaking_flow = dice_.chance(0.7) ? 0 : 1;
        fresh->breaks_after = dice_.below(fresh->breaking_flow == 0 ? 160 : 20);
    }
    passages_.push_back(std::move(fresh));
    return true;
}

bool sockets::move(passage& on, int from) {
    if (on.over) return false;
    flow& way = on.flows[from];
    if (on.breaking_flow == from && way.carried >= on.breaks_after) {
        on_break_(on.between);
        end(on);
        return true;
    }
    // What is held may be given now or later.
    if (!way.held.empty() && dice_.chance(0.5)) return give(on, from);
    return take(on, from) || give(on, from);
}

bool sockets::take(passage& on, int from) {
    flow& way = on.flows[from];
    if (way.ended) return false;
    std::array<std::byte, 64> some;
    const ssize_t got =
        ::recv(on.ends[from].get(), some.data(), dice_.between(1, some.size()), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (got > 0) {
        way.held.insert(way.held.end(), some.begin(), some.begin() + got);
        return true;
    }
    way.ended = true;
    return true;
}

bool sockets::give(passage& on, int from) {
    flow& way = on.flows[from];
    if (way.held.empty()) {
        if (way.ended) end(on);
        return way.ended;
    }
    std::size_t count = dice_.between(1, way.held.size());
    if (on.breaking_flow == from) count = std::min(count, on.breaks_after - way.carried);
    const ssize_t sent =
        ::send(on.ends[1 - from].get(), way.held.data(), count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
        end(on);
        return true;
    }
    way.carried += static_cast<std::size_t>(sent);
    way.held.erase(way.held.begin(), way.held.begin() + sent);
    return true;
}

void sockets::end(passage& on) noexcept {
    on.over = true;
    for (ucs::unique_fd& each : on.ends)
        each.reset();
}

std::string sockets::text() const {
    std::string list;
    for (const auto& each : passages_) {
        list += fmt::format("# socket between client {} and server {}: {} and {} bytes{}\n",
                            each->between.first, each->between.second, each->flows[0].carried,
                            each->flows[1].carried, each->over ? ", over" : "");
    }
    return list;
}

}  // namespace sim_test
