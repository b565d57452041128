#include "ucs/descriptor/peer_credentials.hpp"

#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "test/support/child.hpp"

using namespace ucs;

namespace {

struct abstract_name {
    // The name contains the process id, so that concurrent tests have different names.
    explicit abstract_name(const std::string& text) {
        const std::string whole = text + "-" + std::to_string(::getpid());
        address.sun_family = AF_UNIX;
        REQUIRE(whole.size() < sizeof address.sun_path - 1);
        std::memcpy(address.sun_path + 1, whole.data(), whole.size());
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + whole.size());
    }
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&address);
    }
    sockaddr_un address{};
    socklen_t length = 0;
};

unique_fd make_socket() {
    return unique_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

}  // namespace

TEST_CASE("peer credentials: the other end of a socket pair is this process", "[ucs][sys]") {
    const test::socket_pair ends(SOCK_SEQPACKET);
    const auto peer = sys::read_peer_credentials(ends.near.get());
    REQUIRE(peer.has_value());
    CHECK(peer->pid == ::getpid());
    CHECK(peer->uid == ::geteuid());
    CHECK(peer->is_own_user());
    CHECK(peer->is_own_user_or_root());
}

TEST_CASE("peer credentials: a descriptor that is not a socket has none", "[ucs][sys]") {
    CHECK_FALSE(sys::read_peer_credentials(-1).has_value());
}

TEST_CASE("peer credentials: a listener of another user is seen as that", "[ucs][sys]") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can run a process of another user");
        return;
    }
    constexpr uid_t stranger = 54321;
    const abstract_name name("hawser-test-peer-credentials");
    const test::child_process child([&](int fd) {
        const unique_fd listener = make_socket();
        const bool listens = ::setresuid(stranger, stranger, stranger) == 0 &&
                             ::bind(listener.get(), name.get(), name.length) == 0 &&
                             ::listen(listener.get(), 1) == 0;
        if (::send(fd, &listens, sizeof listens, 0) == sizeof listens) ::pause();
    });
    bool listens = false;
    child.receive(listens);
    const unique_fd socket = make_socket();
    CHECK(::connect(socket.get(), name.get(), name.length) == 0);
    const auto peer = sys::read_peer_credentials(socket.get());
    REQUIRE(listens);
    REQUIRE(peer.has_value());
    CHECK(peer->pid == child.pid());
    CHECK(peer->uid == stranger);
    CHECK_FALSE(peer->is_own_user());
    CHECK_FALSE(peer->is_own_user_or_root());
}

TEST_CASE("peer credentials: a process that left its socket to a child is not alive",
          "[ucs][sys]") {
    const abstract_name name("hawser-test-living-peer");
    const unique_fd listener = make_socket();
    REQUIRE(::bind(listener.get(), name.get(), name.length) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    test::socket_pair ends(SOCK_SEQPACKET);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ends.near.reset();
        const unique_fd socket = make_socket();
        if (::connect(socket.get(), name.get(), name.length) != 0) ::_exit(1);
        // The grandchild keeps the socket until the test closes its end of the pair. It does not
        // wait in recv(): of two processes there, a byte wakes only one.
        const pid_t heir = ::fork();
        char byte = 'x';
        if (heir == 0) {
            pollfd closed{ends.far.get(), 0, 0};
            static_cast<void>(::poll(&closed, 1, -1));
        } else if (heir > 0) {
            static_cast<void>(::send(ends.far.get(), &byte, 1, 0));
            static_cast<void>(::recv(ends.far.get(), &byte, 1, 0));
        }
        ::_exit(heir < 0 ? 1 : 0);
    }
    ends.far.reset();
    const unique_fd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(accepted);
    char byte = 0;
    REQUIRE(::recv(ends.near.get(), &byte, 1, 0) == 1);
    const sys::process_identity alive = sys::identify_living_peer(accepted.get());
    CHECK(alive.pid == child);
    CHECK(alive.start_time == sys::start_time(child));
    REQUIRE(::send(ends.near.get(), &byte, 1, 0) == 1);
    // Until waitpid() reaps it, its id is not reused.
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    CHECK(sys::start_time(child) == alive.start_time);
    CHECK(sys::identify_living_peer(accepted.get()).pid == 0);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(sys::read_peer_credentials(accepted.get())->pid == child);
    CHECK(sys::identify_living_peer(accepted.get()).pid == 0);
}
