#include "ucs/descriptor/descriptor_passing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

using namespace ucs;

namespace {

struct ends {
    explicit ends(int (*make)(int*)) {
        int fds[2];
        REQUIRE(make(fds) == 0);
        first = unique_fd(fds[0]);
        second = unique_fd(fds[1]);
    }
    unique_fd first;
    unique_fd second;
};

int make_sockets(int* fds) {
    return ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);
}

std::span<const std::byte> bytes_of(const char* text) {
    return std::as_bytes(std::span(text, std::strlen(text)));
}

// Returns whether the other end of a pipe is still open.
bool has_writer(int fd) {
    char byte = 0;
    return ::read(fd, &byte, 1) != 0;
}

int make_pipe(int* fds) {
    return ::pipe2(fds, O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

TEST_CASE("a message brings its bytes and its descriptor") {
    const ends sockets(make_sockets);
    const ends pipe(make_pipe);
    std::array<std::byte, 16> into{};
    CHECK(sys::receive_with_descriptor(sockets.second.get(), into).would_block());

    REQUIRE(sys::send_with_descriptor(sockets.first.get(), bytes_of("hello"), pipe.second.get()) ==
            0);
    const sys::received_message got = sys::receive_with_descriptor(sockets.second.get(), into);
    CHECK(got.length == 5);
    CHECK(std::memcmp(into.data(), "hello", 5) == 0);
    CHECK_FALSE(got.truncated);
    REQUIRE(got.descriptor);
    CHECK(::write(got.descriptor.get(), "x", 1) == 1);
    CHECK(has_writer(pipe.first.get()));

    REQUIRE(sys::send_with_descriptor(sockets.first.get(), bytes_of("no descriptor"), -1) == 0);
    CHECK_FALSE(sys::receive_with_descriptor(sockets.second.get(), into).descriptor);
}

TEST_CASE("a truncated message and the end of the connection are reported") {
    ends sockets(make_sockets);
    std::array<std::byte, 4> into{};
    REQUIRE(sys::send_with_descriptor(sockets.first.get(), bytes_of("hello"), -1) == 0);
    CHECK(sys::receive_with_descriptor(sockets.second.get(), into).truncated);
    sockets.first = {};
    const sys::received_message got = sys::receive_with_descriptor(sockets.second.get(), into);
    CHECK(got.length == 0);
    CHECK_FALSE(got.would_block());
    CHECK(sys::send_with_descriptor(sockets.second.get(), bytes_of("hello"), -1) == EPIPE);
    const sys::received_message none = sys::receive_with_descriptor(-1, into);
    CHECK(none.length < 0);
    CHECK(none.error == EBADF);
    CHECK_FALSE(none.would_block());
}

TEST_CASE("unwanted descriptors are closed") {
    const ends sockets(make_sockets);
    ends wanted(make_pipe);
    ends unasked(make_pipe);
    const int fds[] = {wanted.second.get(), unasked.second.get()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
    char byte = 'x';
    iovec piece{&byte, 1};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(part), fds, sizeof fds);
    REQUIRE(::sendmsg(sockets.first.get(), &message, 0) == 1);
    wanted.second = {};
    unasked.second = {};

    std::array<std::byte, 4> into{};
    const sys::received_message got = sys::receive_with_descriptor(sockets.second.get(), into);
    REQUIRE(got.descriptor);
    CHECK(has_writer(wanted.first.get()));
    CHECK_FALSE(has_writer(unasked.first.get()));
}
