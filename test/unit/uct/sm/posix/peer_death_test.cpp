#include <unistd.h>

#include <csignal>

#include "test/support/child.hpp"
#include "test/unit/uct/sm/posix/fixture.hpp"
#include "uct/sm/posix/segment.hpp"
#include "uct/sm/posix/socket.hpp"

using namespace uct;
using namespace uct::posix::test;

namespace {

std::vector<std::byte> read_contact(int fd) {
    std::vector<std::byte> bytes(128);
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
    REQUIRE(got > 0);
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

}  // namespace

TEST_CASE("posix: a receiver killed in the middle of a stream is reported", "[posix]") {
    ::test::child_process receiver([](int fd) {
        node self;
        const auto contact = self.address();
        (void)::send(fd, contact.data(), contact.size(), 0);
        while (true) {
            self.progress();
            self.inbox.clear();
        }
    });
    node a;
    auto ep = a.connect(read_contact(receiver.fd()));
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
    CHECK(a.failures[0] == UCS_ERR_CONNECTION_RESET);
    CHECK(send(*ep, 1, 0, "") == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("posix: messages of a killed sender are delivered, then its ring is dropped", "[posix]") {
    node b;
    ::test::child_process sender([](int fd) {
        node self;
        auto ep = self.connect(read_contact(fd));
        for (std::uint64_t i = 0; i < 100; ++i)
            (void)send(*ep, 1, i, std::string(i * 10, 'y'));
        while (ep->flush(nullptr) != UCS_OK)
            self.progress();
        (void)::send(fd, "x", 1, 0);
        ::pause();
    });
    const auto contact = b.address();
    REQUIRE(::send(sender.fd(), contact.data(), contact.size(), 0) > 0);
    char done = 0;
    while (::recv(sender.fd(), &done, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
        b.progress();
    sender.kill();
    while (b.inbox.size() < 100)
        b.progress();
    CHECK(b.inbox.back() == with_header(99, std::string(990, 'y')));
    while (b.events->size() > 1)
        b.progress();
}

namespace {

// A sender that the test plays by hand.
class raw_sender {
public:
    raw_sender(const node& receiver, const ucs::security::worker_secret& secret)
        : receiver_(sm::parse_posix_address(receiver.address())->socket_id),
          socket_(posix::make_socket()),
          exchange_(secret.as_key(),
                    posix::connection_name{.receiver = receiver_, .sender = own_}.as_bytes()) {
        REQUIRE(posix::connect_to(socket_.get(), receiver_) == 0);
    }
    void challenge() {
        const posix::challenge said{.reply_socket = own_, .nonce = exchange_.challenge()};
        REQUIRE(posix::send_packet(socket_.get(), said) == 0);
    }
    // Returns the receiver's next packet.
    [[nodiscard]] posix::packet next(node& receiver) {
        posix::packet got;
        do {
            receiver.progress();
            got = posix::receive_packet(socket_.get());
        } while (got.type == posix::packet::kind::nothing_yet);
        return got;
    }
    // The secret that the receiver's reply must prove; without one it proves another secret.
    [[nodiscard]] std::optional<ucs::security::proof> challenge_and_check(node& receiver) {
        challenge();
        const auto reply = posix::parse_reply(next(receiver).content());
        REQUIRE(reply.value);
        return exchange_.answer(reply.value->content);
    }
    [[nodiscard]] int socket() const { return socket_.get(); }

private:
    static constexpr std::uint64_t own_ = 0xabcdef;
    const std::uint64_t receiver_;
    ucs::unique_fd socket_;
    ucs::security::initiator exchange_;
};

posix::hello small_hello() {
    posix::hello said{.slots = 8, .bulk_size = 4096, .max_message = 512};
    said.segment_size = said.geometry().segment_size();
    return said;
}

ucs::unique_fd make_ring(const posix::hello& said) {
    auto made = posix::segment::create(said.segment_size);
    REQUIRE(made.ok());
    return std::move(made->fd);
}

}  // namespace

TEST_CASE("posix: a connection with invalid data is refused and the interface works on",
          "[posix]") {
    node b;
    raw_sender sender(b, secret_of(b));
    posix::hello said = small_hello();
    SECTION("garbage instead of a challenge") {
        REQUIRE(::send(sender.socket(), "hi", 2, 0) == 2);
    }
    SECTION("a hello before any challenge") {
        REQUIRE(posix::send_packet(sender.socket(), said) == 0);
    }
    SECTION("a hello without a proof") {
        REQUIRE(sender.challenge_and_check(b));
        REQUIRE(posix::send_packet(sender.socket(), said, make_ring(said).get()) == 0);
    }
    SECTION("a hello with a segment that can be resized") {
        said.proof = *sender.challenge_and_check(b);
        const auto memory = posix::make_memfd();
        REQUIRE(::ftruncate(memory.get(), static_cast<off_t>(said.segment_size)) == 0);
        REQUIRE(posix::send_packet(sender.socket(), said, memory.get()) == 0);
    }
    SECTION("a hello with a segment of another size") {
        said.proof = *sender.challenge_and_check(b);
        auto made = posix::segment::create(4096);
        REQUIRE(made.ok());
        REQUIRE(posix::send_packet(sender.socket(), said, made->fd.get()) == 0);
    }
    SECTION("a hello without a segment") {
        said.proof = *sender.challenge_and_check(b);
        REQUIRE(posix::send_packet(sender.socket(), said) == 0);
    }
    CHECK(posix::parse_goodbye(sender.next(b).content()) == posix::packet_kind::refused);
    CHECK(b.events->size() == 1);

    node a;
    auto ep = a.connect(b);
    REQUIRE(send(*ep, 1, 5, "") == UCS_OK);
    REQUIRE(until({&a, &b}, [&] { return b.inbox.size() == 1; }));
}

TEST_CASE("posix: a sender without the secret is refused, and learns nothing", "[posix]") {
    node b;
    raw_sender stranger(b, ucs::security::worker_secret::random());
    CHECK_FALSE(stranger.challenge_and_check(b));
    posix::hello said = small_hello();
    REQUIRE(posix::send_packet(stranger.socket(), said, make_ring(said).get()) == 0);
    CHECK(posix::parse_goodbye(stranger.next(b).content()) == posix::packet_kind::refused);
    CHECK(b.events->size() == 1);
}

TEST_CASE("posix: a sender with the secret can send", "[posix]") {
    node b;
    raw_sender sender(b, secret_of(b));
    posix::hello said = small_hello();
    said.proof = *sender.challenge_and_check(b);
    REQUIRE(posix::send_packet(sender.socket(), said, make_ring(said).get()) == 0);
    b.progress();
    CHECK(b.events->size() == 2);
}
