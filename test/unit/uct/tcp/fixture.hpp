// Test fixture: workers with a tcp interface on lo, and peers that the test plays by hand.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>

#include "test/support/uct_side.hpp"
#include "test/support/vfs_text.hpp"
#include "ucs/net/route.hpp"
#include "uct/base/builtin.hpp"
#include "uct/tcp/setup/address.hpp"
#include "uct/tcp/setup/handshake.hpp"
#include "uct/tcp/socket.hpp"
#include "uct/tcp/wire.hpp"

namespace tcp_test {

using bytes = std::vector<std::byte>;

inline bytes filled(std::size_t length, int value) {
    return bytes(length, std::byte(value));
}

inline ucs::config::source setting(const char* name, const std::string& text) {
    ucs::config::source made = ucs::config::source::empty();
    if (name != nullptr) made.set(name, text);
    return made;
}

// A worker with an interface on lo.
class worker : public test::uct_side {
public:
    // `name` is an option without UCX_; nullptr for the defaults.
    explicit worker(const char* name = nullptr, const std::string& text = {},
                    const ucs::security::key* job_key = nullptr)
        : uct_side(uct::tcp_component(),
                   {.transport = "tcp", .device = "lo", .type = uct::device_type::network},
                   setting(name, text), {.job_key = job_key}) {}

    [[nodiscard]] uct::tcp::address parsed_address() const {
        return *uct::tcp::address::parse(address(), 0);
    }
    // From the object tree: open sockets to peers, and known peers.
    [[nodiscard]] unsigned connections() const { return number("connections"); }
    [[nodiscard]] unsigned peers() const { return number("peers"); }

private:
    [[nodiscard]] unsigned number(std::string_view name) const {
        return static_cast<unsigned>(std::stoul(test::vfs_text(*iface, name)));
    }
};

// Progresses all workers until `done`. Returns false if that takes very many iterations.
inline bool run(std::initializer_list<worker*> all, const std::function<bool()>& done) {
    for (int turn = 0; turn < 2'000'000; ++turn) {
        if (done()) return true;
        unsigned events = 0;
        for (worker* one : all)
            events += one->progress();
        // The kernel may need this processor to transfer the bytes.
        if (events == 0) ::poll(nullptr, 0, turn % 64 == 0 ? 1 : 0);
    }
    return done();
}

inline ucs_status_t send(uct::ep& via, std::uint64_t number) {
    return via.am_short(1, number, nullptr, 0);
}

inline bool sent(worker& from, uct::ep& via, worker& other, std::uint64_t number) {
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    return run({&from, &other},
               [&] {
                   if (status == UCS_ERR_NO_RESOURCE) status = send(via, number);
                   return status != UCS_ERR_NO_RESOURCE;
               }) &&
           status == UCS_OK;
}

// Sends a message and waits until it has arrived.
inline bool arrives(worker& from, uct::ep& via, worker& to, std::uint64_t number) {
    const std::size_t before = to.inbox.size();
    return sent(from, via, to, number) &&
           run({&from, &to}, [&] { return to.inbox.size() > before; });
}

// Both workers send `count` numbered messages to each other and progress, in a random order.
// Returns whether all of them arrive.
inline bool exchange_at_random(worker& a, uct::ep& there, worker& b, uct::ep& back,
                               std::uint64_t count, std::mt19937& random) {
    std::uint64_t next_a = 0;
    std::uint64_t next_b = 0;
    return run({}, [&] {
        switch (random() % 4) {
            case 0:
                a.progress();
                break;
            case 1:
                b.progress();
                break;
            case 2:
                if (next_a < count && send(there, next_a) == UCS_OK) ++next_a;
                break;
            default:
                if (next_b < count && send(back, next_b) == UCS_OK) ++next_b;
        }
        return a.inbox.size() == count && b.inbox.size() == count;
    });
}

inline std::uint64_t number_of(const std::string& message) {
    std::uint64_t number = 0;
    std::memcpy(&number, message.data(), std::min(message.size(), sizeof number));
    return number;
}

// A peer that the test plays by hand: a listening socket of its own, and connections to workers.
class hand_made_peer {
public:
    explicit hand_made_peer(const ucs::security::key* job_key = nullptr, bool encrypted = false)
        : own(job_key, encrypted),
          id(own.id()),
          listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const uct::tcp::socket_address any_port(loopback(), 0);
        REQUIRE(::bind(listener_.get(), any_port.data(), any_port.size()) == 0);
        REQUIRE(::listen(listener_.get(), 16) == 0);
        own.set_address(*uct::tcp::address::parse(address(), 0));
    }

    [[nodiscard]] bytes address() const {
        uct::tcp::address made;
        made.iface_id = id;
        std::ranges::copy(own.secret().data(), made.secret.begin());
        made.network_id = ucs::net::network_identity();
        made.loopback = true;
        made.v4 = {loopback(), uct::tcp::local_address(listener_.get()).port(), 8};
        bytes packed(made.packed_size());
        made.pack(packed);
        return packed;
    }

    // Accepts a connection of a worker, which then waits for a reply to its greeting.
    ucs::unique_fd accept(worker& remote) const {
        REQUIRE(run({&remote}, [&] { return readable(listener_.get()); }));
        ucs::unique_fd fd(::accept(listener_.get(), nullptr, nullptr));
        REQUIRE(run({&remote}, [&] { return readable(fd.get()); }));
        return fd;
    }
    // Exchanges greetings up to the worker's proof.
    uct::tcp::accepting_handshake prove_to(worker& remote, int fd) const {
        uct::tcp::accepting_handshake handshake(own);
        using step = uct::tcp::accepting_handshake::step;
        step done = step::incomplete;
        REQUIRE(run({&remote}, [&] {
            if (readable(fd)) done = receive(fd, handshake);
            if (done == step::send_challenge) {
                send_all(fd, handshake.challenge().bytes());
                done = step::incomplete;
            }
            return done == step::agreed;
        }));
        return handshake;
    }
    // Accepts the connection of a worker and welcomes it.
    ucs::unique_fd let_in(worker& remote) const {
        ucs::unique_fd fd = accept(remote);
        send_all(fd.get(), prove_to(remote, fd.get()).welcome(0).bytes());
        return fd;
    }
    void refuse(int fd, std::uint64_t to, uct::tcp::wire::refusal_reason reason) const {
        send_all(fd, uct::tcp::packed_greeting({.kind = uct::tcp::wire::greeting_kind::refusal,
                                                .from = id,
                                                .to = to,
                                                .reason = reason},
                                               {})
                         .bytes());
    }

    // Connects to a worker and proves itself.
    ucs::unique_fd come_in(worker& remote, std::uint32_t attempt = 1) const {
        const uct::tcp::address target = remote.parsed_address();
        ucs::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const uct::tcp::socket_address address(loopback(), target.v4.port);
        REQUIRE(::connect(fd.get(), address.data(), address.size()) == 0);
        uct::tcp::connecting_handshake handshake(own, target.iface_id,
                                                 uct::tcp::key_of_address(target), attempt);
        using step = uct::tcp::connecting_handshake::step;
        send_all(fd.get(), handshake.hello().bytes());
        step done = step::incomplete;
        REQUIRE(run({&remote}, [&] {
            if (readable(fd.get())) done = receive(fd.get(), handshake);
            return done == step::send_proof;
        }));
        send_all(fd.get(), handshake.proof().bytes());
        return fd;
    }

    void greet(int fd, uct::tcp::wire::greeting_kind kind, std::uint64_t to,
               std::uint32_t attempt) const {
        send_all(fd, uct::tcp::packed_greeting(
                         {.kind = kind, .attempt = attempt, .from = id, .to = to}, {})
                         .bytes());
    }

    static void send_all(int fd, std::span<const std::byte> from) {
        REQUIRE(::send(fd, from.data(), from.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(from.size()));
    }
    static void send_frame(int fd, uct::tcp::wire::frame_kind kind) {
        const uct::tcp::wire::frame_header frame{0, 0, kind, uct::tcp::wire::frame_mark};
        send_all(fd, std::as_bytes(std::span(&frame, 1)));
    }
    template<class Handshake>
    static typename Handshake::step receive(int fd, Handshake& handshake) {
        const std::span<std::byte> space = handshake.space();
        const ssize_t got = ::recv(fd, space.data(), space.size(), 0);
        REQUIRE(got > 0);
        return handshake.take(static_cast<std::size_t>(got));
    }

    static bool readable(int fd) {
        pollfd one{fd, POLLIN, 0};
        return ::poll(&one, 1, 0) == 1;
    }
    static uct::tcp::ip_address loopback() {
        return uct::tcp::ip_address::v4(
            std::array<std::byte, 4>{std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}});
    }

    uct::tcp::credentials own;
    const std::uint64_t id;

private:
    ucs::unique_fd listener_;
};

// A worker's endpoint to a peer that the test plays by hand and that has welcomed it.
struct connection_by_hand {
    explicit connection_by_hand(worker& from) : via(from.connect(peer.address())) {
        CHECK(send(*via, 1) == UCS_ERR_NO_RESOURCE);  // begins to connect
        fd = peer.let_in(from);
    }
    hand_made_peer peer;
    std::unique_ptr<uct::ep> via;
    ucs::unique_fd fd;  // the peer's end
};

// A plain connection to a worker's port.
inline ucs::unique_fd knock(const worker& remote) {
    ucs::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const uct::tcp::socket_address target(hand_made_peer::loopback(),
                                          remote.parsed_address().v4.port);
    REQUIRE(::connect(fd.get(), target.data(), target.size()) == 0);
    return fd;
}

// Returns true if the other side has closed the connection.
inline bool ended(int fd) {
    std::array<std::byte, 256> rest;
    const ssize_t got = ::recv(fd, rest.data(), rest.size(), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

}  // namespace tcp_test
