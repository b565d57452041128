// A process that binds the socket name of an interface that has gone gets nothing.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "test/unit/uct/sm/posix/fixture.hpp"
#include "uct/sm/posix/socket.hpp"

using namespace uct;
using namespace uct::posix::test;

namespace {

// A child process that listens on the name and reports how many bytes a caller has sent to it.
class successor {
public:
    successor(std::uint64_t socket_id, uid_t user) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(ends[0]);
            serve(socket_id, user, ends[1]);
        }
        ::close(ends[1]);
        channel_.reset(ends[0]);
        char ready = 0;
        REQUIRE(::recv(channel_.get(), &ready, 1, 0) == 1);
        REQUIRE(ready == 'y');
    }
    ~successor() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    // Waits until its caller has gone.
    [[nodiscard]] std::size_t received_bytes() const {
        std::size_t count = ~std::size_t{0};
        REQUIRE(::recv(channel_.get(), &count, sizeof count, 0) == sizeof count);
        return count;
    }

private:
    [[noreturn]] static void serve(std::uint64_t socket_id, uid_t user, int report) {
        if (user != ::geteuid() && ::setresuid(user, user, user) != 0) ::_exit(1);
        const auto listener = posix::listen_on(socket_id);
        if (!listener || ::send(report, "y", 1, 0) != 1) ::_exit(1);
        pollfd waits{listener->get(), POLLIN, 0};
        if (::poll(&waits, 1, -1) != 1) ::_exit(1);
        const ucs::unique_fd caller{::accept(listener->get(), nullptr, nullptr)};
        std::size_t count = 0;
        char bytes[256];
        for (;;) {
            const ssize_t got = ::recv(caller.get(), bytes, sizeof bytes, 0);
            if (got <= 0) break;
            count += static_cast<std::size_t>(got);
        }
        (void)::send(report, &count, sizeof count, 0);
        ::pause();
        ::_exit(0);
    }

    pid_t pid_ = 0;
    ucs::unique_fd channel_;
};

std::uint64_t socket_id_of(const std::vector<std::byte>& address) {
    return sm::parse_posix_address(address)->socket_id;
}

void check_that_nothing_is_sent_to(uid_t user) {
    node a;
    std::vector<std::byte> address;
    {
        const node b;
        address = b.address();
    }
    const successor stranger(socket_id_of(address), user);
    auto ep = a.connect_to(address);
    CHECK(send(*ep, 1, 0, "secret") == UCS_ERR_UNREACHABLE);
    a.progress();
    REQUIRE(a.failures.size() == 1);
    CHECK(a.failures[0].second == UCS_ERR_UNREACHABLE);
    CHECK(stranger.received_bytes() == 0);
}

}  // namespace

TEST_CASE("posix: another process of this user that took the name gets nothing", "[posix]") {
    check_that_nothing_is_sent_to(::geteuid());
}

TEST_CASE("posix: a process of another user that took the name gets nothing", "[posix]") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can run a process of another user");
        return;
    }
    check_that_nothing_is_sent_to(54321);
}
