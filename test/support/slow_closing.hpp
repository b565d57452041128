// Local sockets whose closing blocks as long as the test wants.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/type/unique_fd.hpp"

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

struct unix_pair {
    unix_pair() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        local = unique_fd(ends[0]);
        remote = unique_fd(ends[1]);
    }
    unique_fd local;
    unique_fd remote;
};

// Sockets that wait in close_in_background() behind a lingering one, as many as
// has_too_many_pending_closes() needs. The destructor lets them close, and waits for that.
struct full_closing_pool {
    full_closing_pool() {
        unix_pair first;
        const auto byte = std::as_bytes(std::span("x", 1));
        REQUIRE(ucs::sys::send_with_descriptor(first.remote.get(), byte, trap.sender.get()) == 0);
        trap.sender.reset();
        ucs::sys::close_in_background(std::move(first.local));
        while (!ucs::sys::has_too_many_pending_closes()) {
            unix_pair each;
            ucs::sys::close_in_background(std::move(each.local));
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
