// Tests of closing sockets of untrusted peers that hold a lingering TCP socket.
#include "ucs/descriptor/close_in_background.hpp"

#include <fcntl.h>
#include <sys/un.h>

#include <cerrno>

#include "test/support/child.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/slow_closing.hpp"

using namespace ucs;
using namespace test;

namespace {

const auto no_bytes = std::as_bytes(std::span("x", 1));

void wait_until_closed(const unique_fd& other_end) {
    char byte = 0;
    while (::send(other_end.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN)
        std::this_thread::yield();
}

}  // namespace

TEST_CASE("a lingering socket of an untrusted peer blocks a thread, but not the caller") {
    const test::log_capture log;
    lingering trap;
    unix_pair first;
    REQUIRE(sys::send_with_descriptor(first.far.get(), no_bytes, trap.sender.get()) == 0);
    trap.sender.reset();
    sys::close_in_background(std::move(first.near));
    // The thread cannot end before `trap.receiver` closes, so reaching this line shows that the
    // caller did not wait. More sockets wait behind the first one.
    CHECK_FALSE(sys::has_too_many_pending_closes());
    std::vector<unix_pair> more(65);
    for (unix_pair& each : more)
        sys::close_in_background(std::move(each.near));
    CHECK(sys::has_too_many_pending_closes());
    CHECK(sys::has_too_many_pending_closes());
    CHECK(log.count("local sockets wait to be closed") == 1);
    // A child of a fork has no such thread, and does not wait for it.
    CHECK(test::run_in_child([] { return sys::has_too_many_pending_closes() ? 1 : 0; }) == 0);
    trap.receiver.reset();
    for (const unix_pair& each : more)
        wait_until_closed(each.far);
    CHECK_FALSE(sys::has_too_many_pending_closes());
}

TEST_CASE("a socket that forbids descriptors gets none, even before it is accepted") {
    const unix_pair probe;
    sys::forbid_descriptors(probe.near.get());
    if (sys::may_hold_descriptors(probe.near.get())) {
        WARN("this kernel cannot forbid descriptors (it came with Linux 6.16)");
        return;
    }
    const unique_fd any(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    CHECK(sys::send_with_descriptor(probe.far.get(), no_bytes, any.get()) == EPERM);
    CHECK(sys::send_with_descriptor(probe.far.get(), no_bytes, -1) == 0);

    const unique_fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sys::forbid_descriptors(listener.get());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                   sizeof address.sun_family) == 0);
    socklen_t length = sizeof address;
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    const unique_fd caller(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(caller.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    CHECK(sys::send_with_descriptor(caller.get(), no_bytes, any.get()) == EPERM);
    const unique_fd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    CHECK_FALSE(sys::may_hold_descriptors(accepted.get()));
    sys::allow_descriptors(accepted.get());
    CHECK(sys::send_with_descriptor(caller.get(), no_bytes, any.get()) == 0);
}
