#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/log_capture.hpp"
#include "test/unit/uct/tcp/fixture.hpp"
#include "ucs/log/throttle.hpp"

using namespace tcp_test;

namespace {

bool still_works(worker& a) {
    worker b;
    const auto via = b.connect(a.address());
    const std::size_t before = a.inbox.size();
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    return run({&a, &b}, [&] {
        if (status == UCS_ERR_NO_RESOURCE) status = send(*via, 1);
        return a.inbox.size() > before;
    });
}

// The other side's kernel has all that was sent.
bool arrived(int fd) {
    int underway = 0;
    REQUIRE(::ioctl(fd, SIOCOUTQ, &underway) == 0);
    return underway == 0;
}

// What the other side sends from here on fails.
void reset(ucs::unique_fd& fd) {
    const linger now{1, 0};
    REQUIRE(::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
    fd.reset();
}

}  // namespace

TEST_CASE("a stranger that talks something else is shown out") {
    worker a;
    const auto stranger = knock(a);
    const std::string text = "GET / HTTP/1.1\r\nHost: somebody.example\r\n\r\n";
    REQUIRE(::send(stranger.get(), text.data(), text.size(), MSG_NOSIGNAL) > 0);
    CHECK(run({&a}, [&] { return ended(stranger.get()); }));
    CHECK(still_works(a));
}

TEST_CASE("a port scan leaves nothing behind") {
    worker a;
    for (int i = 0; i < 200; ++i)
        static_cast<void>(knock(a));
    CHECK(still_works(a));
    CHECK(a.failures.empty());
}

TEST_CASE("a stranger that says nothing is closed after the handshake timeout") {
    worker a("TCP_HANDSHAKE_TIMEOUT", "10ms");
    const auto silent = knock(a);
    const auto slow = knock(a);
    REQUIRE(::send(slow.get(), "HWS", 3, MSG_NOSIGNAL) == 3);
    CHECK(run({&a}, [&] { return ended(silent.get()) && ended(slow.get()); }));
}

TEST_CASE("more strangers than there is room for do not keep peers out for ever") {
    worker a("TCP_HANDSHAKE_TIMEOUT", "50ms");
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 300; ++i)
        crowd.push_back(knock(a));
    CHECK(still_works(a));
}

TEST_CASE("a crowd that never speaks makes room long before the handshake timeout") {
    const test::log_capture log;
    worker a("TCP_HANDSHAKE_TIMEOUT", "1h");
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 600; ++i)
        crowd.push_back(knock(a));
    CHECK(still_works(a));
    CHECK(log.count("have not identified themselves") == 1);
}

TEST_CASE("strangers that say nonsense again and again do not fill the log") {
    const test::log_capture log;
    worker a;
    for (int i = 0; i < 60; ++i) {
        const auto stranger = knock(a);
        const bytes nonsense = filled(64, 0x55);
        REQUIRE(::send(stranger.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL) == 64);
        REQUIRE(run({&a}, [&] { return ended(stranger.get()); }));
    }
    INFO(log.text());
    CHECK(log.count("no greeting of this protocol") == ucs::log::throttle::first_lines + 1);
    CHECK(log.count("(10 of the kind so far") == 1);
}

TEST_CASE(
    "a peer that greets and breaks the connection before it is let in leaves nothing behind") {
    worker a;
    hand_made_peer peer;
    ucs::unique_fd fd = peer.come_in(a);
    while (!arrived(fd.get()))
        ::poll(nullptr, 0, 1);
    reset(fd);
    // Those who come are dealt with in turn.
    const auto stranger = knock(a);
    const bytes nonsense = filled(64, 0x55);
    REQUIRE(::send(stranger.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL) == 64);
    REQUIRE(run({&a}, [&] { return ended(stranger.get()); }));
    CHECK(run({&a}, [&] { return a.peers() == 0; }));
    CHECK(still_works(a));
}

TEST_CASE("a greeted peer that sends what is no frame is cut off") {
    worker a;
    const connection_by_hand made(a);
    const bytes garbage = filled(64, 0x55);
    REQUIRE(::send(made.fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL) == 64);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_CONNECTION_RESET});
    CHECK(still_works(a));
}

TEST_CASE("a connection that a child process still holds is over for this one when it is closed") {
    worker a;
    connection_by_hand made(a);
    REQUIRE(sent(a, *made.via, a, 1));
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::close(ends[1]);
        char end = 0;
        static_cast<void>(!::read(ends[0], &end, 1));
        ::_exit(0);
    }
    ::close(ends[0]);
    const bytes garbage = filled(64, 0x55);
    REQUIRE(::send(made.fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL) == 64);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    made.via.reset();
    REQUIRE(run({&a}, [&] { return a.connections() == 0; }));
    // The child's copy hears it; the interface must not, once it is there.
    REQUIRE(::send(made.fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL) == 64);
    REQUIRE(run({&a}, [&] { return arrived(made.fd.get()); }));
    bool idle = false;
    for (int i = 0; i < 1000; ++i)
        idle |= a.progress() == 0;
    CHECK(idle);
    ::close(ends[1]);
    CHECK(::waitpid(child, nullptr, 0) == child);
    CHECK(still_works(a));
}

TEST_CASE("a refusal and a foreign answer end the endpoint, not the worker") {
    worker a;
    hand_made_peer peer;
    const auto via = a.connect(peer.address());
    CHECK(send(*via, 1) == UCS_ERR_NO_RESOURCE);
    const ucs::unique_fd other = knock(a);
    peer.greet(other.get(), uct::tcp::wire::greeting_kind::refusal, a.parsed_address().iface_id, 1);
    CHECK(run({&a}, [&] { return ended(other.get()); }));
    CHECK(still_works(a));
}

TEST_CASE("without descriptors peers wait, and the listening socket does not spin") {
    worker a;
    worker b;
    const auto via = b.connect(a.address());
    auto stranger = knock(a);

    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const ucs::unique_fd highest(::fcntl(0, F_DUPFD_CLOEXEC, 0));
    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(highest.get());
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &tight) == 0);
    unsigned events = 0;
    for (int i = 0; i < 1000; ++i)
        events += a.progress();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    // One failed accept per pause of 100 ms and ten ticks in it, not one per progress.
    CHECK(events < 500);
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    CHECK(run({&a, &b}, [&] {
        if (status == UCS_ERR_NO_RESOURCE) status = send(*via, 1);
        return !a.inbox.empty();
    }));
}
