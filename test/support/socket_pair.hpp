// Two connected sockets of a test.
#pragma once

#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "ucs/type/unique_fd.hpp"

namespace test {

struct socket_pair {
    // `type`: SOCK_STREAM or SOCK_SEQPACKET, with further flags of socketpair(2).
    explicit socket_pair(int type) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0);
        near = ucs::unique_fd(ends[0]);
        far = ucs::unique_fd(ends[1]);
    }
    ucs::unique_fd near;
    ucs::unique_fd far;
};

}  // namespace test
