#include "ucs/sys/peer_credentials.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "ucs/type/unique_fd.hpp"

using namespace ucs;

namespace {

struct abstract_name {
    explicit abstract_name(const char* text) noexcept {
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path + 1, text);
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(text));
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
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    const unique_fd first(ends[0]), second(ends[1]);
    const auto peer = sys::read_peer_credentials(first.get());
    REQUIRE(peer.has_value());
    CHECK(peer->pid == ::getpid());
    CHECK(peer->uid == ::geteuid());
    CHECK(peer->is_own_user());
    CHECK(peer->is_own_user_or_root());
}

TEST_CASE("peer credentials: what is no socket has none", "[ucs][sys]") {
    CHECK_FALSE(sys::read_peer_credentials(-1).has_value());
}

TEST_CASE("peer credentials: a listener of another user is seen as that", "[ucs][sys]") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can run a process of another user");
        return;
    }
    constexpr uid_t stranger = 54321;
    const abstract_name name("hawser-test-peer-credentials");
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const unique_fd listener = make_socket();
        const bool listens = ::setresuid(stranger, stranger, stranger) == 0 &&
                             ::bind(listener.get(), name.get(), name.length) == 0 &&
                             ::listen(listener.get(), 1) == 0;
        if (::write(ends[1], &listens, sizeof listens) != sizeof listens || !listens) ::_exit(1);
        ::pause();
        ::_exit(1);
    }
    bool listens = false;
    REQUIRE(::read(ends[0], &listens, sizeof listens) == sizeof listens);
    const unique_fd socket = make_socket();
    CHECK(::connect(socket.get(), name.get(), name.length) == 0);
    const auto peer = sys::read_peer_credentials(socket.get());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    REQUIRE(listens);
    REQUIRE(peer.has_value());
    CHECK(peer->pid == child);
    CHECK(peer->uid == stranger);
    CHECK_FALSE(peer->is_own_user());
    CHECK_FALSE(peer->is_own_user_or_root());
}
