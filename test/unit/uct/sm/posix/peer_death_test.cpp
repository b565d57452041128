#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "test/unit/uct/sm/posix/fixture.hpp"
#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

using namespace uct;
using namespace uct::posix::test;

namespace {

// A child that runs `body(fd)` and is killed when the test ends.
class child {
public:
    template<class Body>
    explicit child(Body body) {
        int pair[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            ::close(pair[0]);
            body(pair[1]);
            ::_exit(0);
        }
        ::close(pair[1]);
        fd_ = pair[0];
    }
    ~child() {
        kill();
        ::close(fd_);
    }
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    [[nodiscard]] int fd() const { return fd_; }

private:
    pid_t pid_ = 0;
    int fd_ = -1;
};

std::vector<std::byte> read_address(int fd) {
    std::vector<std::byte> bytes(128);
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
    REQUIRE(got > 0);
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

}  // namespace

TEST_CASE("posix: a receiver killed in the middle of a stream is reported", "[posix]") {
    child receiver([](int fd) {
        node self;
        const auto address = self.address();
        (void)::send(fd, address.data(), address.size(), 0);
        while (true) {
            self.progress();
            self.received.clear();
        }
    });
    node a;
    auto ep = a.connect_to(read_address(receiver.fd()));
    std::uint64_t sent = 0;
    while (sent < 2000) {
        if (send(*ep, 1, sent, std::string(sent % 2000, 'x')) == UCS_OK) ++sent;
        a.progress();
    }
    REQUIRE(a.failures.empty());
    receiver.kill();
    while (a.failures.empty()) {
        (void)send(*ep, 1, sent, "");
        a.progress();
    }
    CHECK(a.failures[0].second == UCS_ERR_CONNECTION_RESET);
    CHECK(send(*ep, 1, 0, "") == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("posix: what a killed sender had sent is delivered, then its ring is dropped",
          "[posix]") {
    node b;
    child sender([](int fd) {
        node self;
        auto ep = self.connect_to(read_address(fd));
        for (std::uint64_t i = 0; i < 100; ++i)
            (void)send(*ep, 1, i, std::string(i * 10, 'y'));
        (void)::send(fd, "x", 1, 0);
        ::pause();
    });
    const auto address = b.address();
    REQUIRE(::send(sender.fd(), address.data(), address.size(), 0) > 0);
    char done = 0;
    REQUIRE(::recv(sender.fd(), &done, 1, 0) == 1);
    sender.kill();
    while (b.received.size() < 100)
        b.progress();
    CHECK(b.received.back().bytes == with_header(99, std::string(990, 'y')));
    while (b.events().size() > 1)
        b.progress();
}

TEST_CASE("posix: a connection that says nonsense is refused and the interface works on",
          "[posix]") {
    node b;
    std::uint64_t id = 0;
    std::memcpy(&id, b.address().data() + 16, sizeof id);
    const auto socket = posix::make_socket();
    REQUIRE(posix::connect_to(socket.get(), id) == 0);
    SECTION("garbage instead of a hello") {
        REQUIRE(::send(socket.get(), "hi", 2, 0) == 2);
    }
    SECTION("a hello with a segment that can be resized") {
        posix::hello said;
        said.slots = 8;
        said.bulk_size = 4096;
        said.max_message = 512;
        said.segment_size = said.geometry().segment_size();
        const auto memory = posix::make_memfd();
        REQUIRE(::ftruncate(memory.get(), static_cast<off_t>(said.segment_size)) == 0);
        REQUIRE(posix::send_hello(socket.get(), said, memory.get()) == 0);
    }
    SECTION("a hello with a segment of another size") {
        posix::hello said;
        said.slots = 8;
        said.bulk_size = 4096;
        said.max_message = 512;
        said.segment_size = said.geometry().segment_size();
        auto made = posix::segment::create(4096);
        REQUIRE(made.ok());
        REQUIRE(posix::send_hello(socket.get(), said, made->fd.get()) == 0);
    }
    posix::packet answer;
    do {
        b.progress();
        answer = posix::receive_packet(socket.get());
    } while (answer.type == posix::packet::kind::nothing_yet);
    CHECK(posix::parse_goodbye(answer.content()) == posix::goodbye_reason::refused);
    CHECK(b.events().size() == 1);

    node a;
    auto ep = a.connect_to(b);
    REQUIRE(send(*ep, 1, 5, "") == UCS_OK);
    while (b.received.empty())
        b.progress();
}
