// Local sockets whose closing blocks as long as the test wants.
#pragma once

#include <arpa/inet.h>

#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "test/support/socket_pair.hpp"
#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"

namespace test {

using ucs::unique_fd;

// A TCP connection: closing its sending end blocks until the receiving end closes.
struct lingering {
    lingering() {
        const unique_fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
        REQUIRE(::listen(listener.get(), 1) == 0);
        REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
        sender = unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::connect(sender.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
        receiver = unique_fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        REQUIRE(receiver);
        const struct linger hour { 1, 3600 };
        REQUIRE(::setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &hour, sizeof hour) == 0);
        const std::vector<char> bytes(1 << 16);
        while (::send(sender.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
        }
    }
    unique_fd sender;
    unique_fd receiver;
};

struct unix_pair : socket_pair {
    unix_pair() : socket_pair(SOCK_SEQPACKET) {}
};

// Sockets that wait in close_in_background() behind a lingering one, as many as
// has_too_many_pending_closes() needs. The destructor lets them close, and waits for that.
struct full_closing_pool {
    full_closing_pool() {
        unix_pair first;
        const auto byte = std::as_bytes(std::span("x", 1));
        REQUIRE(ucs::sys::send_with_descriptor(first.far.get(), byte, trap.sender.get()) == 0);
        trap.sender.reset();
        ucs::sys::close_in_background(std::move(first.near));
        while (!ucs::sys::has_too_many_pending_closes()) {
            unix_pair each;
            ucs::sys::close_in_background(std::move(each.near));
        }
    }
    ~full_closing_pool() {
        trap.receiver.reset();
        while (ucs::sys::has_too_many_pending_closes())
            std::this_thread::yield();
    }
    lingering trap;
};

}  // namespace test
