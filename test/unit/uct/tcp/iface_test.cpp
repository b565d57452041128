#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <optional>

#include "test/support/virtual_time.hpp"
#include "test/unit/uct/tcp/fixture.hpp"

using namespace tcp_test;
using test::virtual_time;

namespace {

// Returns the other end of a connection within this process.
int other_end_of(int fd) {
    const std::uint16_t own = uct::tcp::local_address(fd).port();
    const std::uint16_t other = uct::tcp::remote_address(fd).port();
    for (int each = 0; each < 1024; ++each) {
        if (each != fd && uct::tcp::local_address(each).port() == other &&
            uct::tcp::remote_address(each).port() == own)
            return each;
    }
    FAIL("the connection has no other end here");
    return -1;
}

// Writes to the socket until it is full.
void fill(int fd) {
    const bytes zeros(1 << 16);
    for (std::size_t length : {zeros.size(), std::size_t{1}}) {
        while (::send(fd, zeros.data(), length, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
        }
    }
}

}  // namespace

TEST_CASE("messages go over IPv4 and over IPv6") {
    const std::string family = GENERATE("inet", "inet6");
    worker a("TCP_AF_PRIO", family);
    worker b("TCP_AF_PRIO", family);
    CHECK(a.parsed_address().v4.ip.is_none() == (family == "inet6"));
    const auto there = a.connect(b.address());
    const auto back = b.connect(a.address());
    REQUIRE(arrives(a, *there, b, 1));
    REQUIRE(arrives(b, *back, a, 2));
    CHECK(number_of(a.inbox[0]) == 2);
    CHECK(a.connections() == 1);
    CHECK(b.connections() == 1);
}

TEST_CASE("both sides connect at once: one connection stays and no message is lost or doubled") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        worker a;
        worker b;
        const auto there = a.connect(b.address());
        const auto back = b.connect(a.address());
        constexpr std::uint64_t count = 20;
        REQUIRE(exchange_at_random(a, *there, b, *back, count, random));
        for (std::uint64_t i = 0; i < count; ++i) {
            CHECK(number_of(a.inbox[i]) == i);
            CHECK(number_of(b.inbox[i]) == i);
        }
        CHECK(a.failures.empty());
        CHECK(b.failures.empty());
        REQUIRE(run({&a, &b}, [&] { return a.connections() == 1 && b.connections() == 1; }));
    }
}

TEST_CASE("a worker can send to itself") {
    worker a;
    const auto self = a.connect(a.address());
    REQUIRE(arrives(a, *self, a, 5));
    CHECK(number_of(a.inbox[0]) == 5);
}

namespace {

// A worker with a connection that it uses.
struct connected {
    connected() { REQUIRE(sent(a, *made.via, a, 1)); }
    // Sends messages from the payload until one is under way.
    void fill_with(bytes& payload, uct::completion& done) {
        const uct::iov piece{payload.data(), payload.size()};
        ucs_status_t status = UCS_OK;
        while (status == UCS_OK)
            status = made.via->am_zcopy(1, {}, {&piece, 1}, &done);
        REQUIRE(status == UCS_INPROGRESS);
    }
    worker a;
    connection_by_hand made{a};
};

}  // namespace

TEST_CASE_METHOD(connected,
                 "a peer that dies within a message is reported once and ends running operations") {
    static unsigned completions;
    static ucs_status_t result;
    completions = 0;
    uct::completion done{.done = [](uct::completion& self) {
        ++completions;
        result = self.status;
    }};
    bytes payload = filled(1 << 20, 7);
    fill_with(payload, done);
    CHECK(send(*made.via, 2) == UCS_ERR_NO_RESOURCE);

    hand_made_peer::send_all(made.fd.get(), filled(4, 1));
    made.fd.reset();
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_CONNECTION_RESET});
    CHECK(completions == 1);
    CHECK(result == UCS_ERR_CONNECTION_RESET);
    CHECK(send(*made.via, 3) == UCS_ERR_CONNECTION_RESET);
    CHECK(made.via->flush(nullptr) == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("an interface that closes properly is distinguished from one that died") {
    worker a;
    std::unique_ptr<uct::ep> via;
    {
        worker b;
        via = a.connect(b.address());
        REQUIRE(sent(a, *via, b, 1));
    }
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_NOT_CONNECTED});
}

namespace {

// Sends a control frame by hand and then breaks the connection, as the kernel does for a process
// that closes a socket with unread bytes. The other side's kernel receives the frame before the
// reset.
void say_and_break(ucs::unique_fd& fd, uct::tcp::wire::frame_kind kind) {
    hand_made_peer::send_frame(fd.get(), kind);
    int unacknowledged = 1;
    while (unacknowledged != 0) {
        REQUIRE(::ioctl(fd.get(), SIOCOUTQ, &unacknowledged) == 0);
        ::poll(nullptr, 0, 1);
    }
    const linger at_once{1, 0};
    REQUIRE(::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    fd.reset();
}

}  // namespace

TEST_CASE_METHOD(connected, "a failing send does not hide the peer's goodbye") {
    say_and_break(made.fd, uct::tcp::wire::frame_kind::leave);

    static ucs_status_t result;
    result = UCS_OK;
    uct::completion done{.done = [](uct::completion& self) { result = self.status; }};
    const std::size_t operation = GENERATE(0U, 1U, 2U);
    bytes payload = filled(32768, 7);
    const uct::iov piece{payload.data(), payload.size()};
    const auto attempt = [&]() -> ucs_status_t {
        if (operation == 0) return send(*made.via, 2);
        if (operation == 1) return made.via->am_zcopy(1, {}, {&piece, 1}, &done);
        return static_cast<ucs_status_t>(made.via->am_bcopy(
            1, [](void*, void*, std::size_t capacity) { return capacity; }, nullptr));
    };
    CHECK(attempt() == UCS_ERR_NO_RESOURCE);
    CHECK(made.via->flush(&done) == UCS_INPROGRESS);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_NOT_CONNECTED});
    CHECK(result == UCS_ERR_NOT_CONNECTED);
    CHECK(attempt() == UCS_ERR_NOT_CONNECTED);
    CHECK(made.via->flush(nullptr) == UCS_ERR_NOT_CONNECTED);
}

TEST_CASE_METHOD(connected, "a failing send to a peer without goodbye reports that the peer died") {
    say_and_break(made.fd, uct::tcp::wire::frame_kind::close_denied);
    CHECK(send(*made.via, 2) == UCS_ERR_NO_RESOURCE);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_CONNECTION_RESET});
    CHECK(send(*made.via, 3) == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE_METHOD(
    connected,
    "a new endpoint to a peer whose old connection is being drained gets a new connection") {
    say_and_break(made.fd, uct::tcp::wire::frame_kind::leave);
    CHECK(send(*made.via, 2) == UCS_ERR_NO_RESOURCE);
    const auto again = a.connect(made.peer.address());
    CHECK(send(*again, 3) == UCS_ERR_NO_RESOURCE);
    made.fd = made.peer.let_in(a);
    CHECK(sent(a, *again, a, 4));
    CHECK(a.failures == std::vector{UCS_ERR_NOT_CONNECTED});
}

TEST_CASE_METHOD(connected,
                 "a connection that is being drained can be ended, and delivers nothing more") {
    struct last_seen {
        uct::iface* iface;
        unsigned count = 0;
        std::uint64_t connection = 0;
    } seen{a.iface.get()};
    a.iface->set_am_handler(1, {.deliver =
                                    [](void* arg, void* data, std::size_t length) {
                                        auto& last = *static_cast<last_seen*>(arg);
                                        ++last.count;
                                        last.connection = last.iface->connection_of({data, length});
                                    },
                                .arg = &seen});
    const auto say = [&] {
        const uct::tcp::wire::frame_header head{8, 1, uct::tcp::wire::frame_kind::message,
                                                uct::tcp::wire::frame_mark};
        bytes frame = filled(uct::tcp::wire::frame_size(8), 0);
        std::memcpy(frame.data(), &head, sizeof head);
        hand_made_peer::send_all(made.fd.get(), frame);
    };
    say();
    REQUIRE(run({&a}, [&] { return seen.count == 1; }));
    REQUIRE(seen.connection != 0);
    say();
    say_and_break(made.fd, uct::tcp::wire::frame_kind::leave);
    CHECK(send(*made.via, 2) == UCS_ERR_NO_RESOURCE);
    CHECK(a.iface->end_connection(seen.connection, UCS_ERR_EXCEEDS_LIMIT));
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_EXCEEDS_LIMIT});
    CHECK(seen.count == 1);
    CHECK_FALSE(a.iface->end_connection(seen.connection, UCS_ERR_EXCEEDS_LIMIT));
}

// Regression test. The kernel resets a connection that is closed with unread bytes and drops its
// unsent bytes: the peer got an error in place of the last messages and the goodbye.
TEST_CASE("messages and goodbye arrive although the interface closes with unread bytes") {
    std::optional<worker> a(std::in_place, "TCP_LINGER", "0");
    connection_by_hand made(*a);
    REQUIRE(sent(*a, *made.via, *a, 1));
    std::uint64_t accepted = 0;
    while (made.via->am_bcopy(
               1, [](void*, void*, std::size_t capacity) { return capacity; }, nullptr) >= 0) {
        ++accepted;
        if (accepted * 16384 >= 1 << 20) break;
    }
    REQUIRE(accepted > 0);
    hand_made_peer::send_all(made.fd.get(), filled(4, 1));
    made.via.reset();
    a.reset();
    bytes room(1 << 16);
    ssize_t got = 1;
    while (got > 0)
        got = ::recv(made.fd.get(), room.data(), room.size(), 0);
    CHECK(got == 0);
}

TEST_CASE("no process listens at the address, or another one does") {
    worker a;
    uct::tcp::address gone;
    {
        worker b;
        gone = b.parsed_address();
    }
    worker other;
    uct::tcp::address foreign = other.parsed_address();
    foreign.iface_id ^= 1;
    for (const uct::tcp::address& target : {gone, foreign}) {
        a.failures.clear();
        bytes packed(target.packed_size());
        target.pack(packed);
        const auto via = a.connect(packed);
        ucs_status_t status = send(*via, 1);
        REQUIRE(run({&a, &other}, [&] { return !a.failures.empty(); }));
        CHECK(a.failures == std::vector{UCS_ERR_UNREACHABLE});
        status = send(*via, 1);
        CHECK(status == UCS_ERR_UNREACHABLE);
    }
}

TEST_CASE("an unused connection is closed by agreement and made again when needed") {
    const virtual_time time;
    worker a;
    worker b;
    auto there = a.connect(b.address());
    auto back = b.connect(a.address());
    REQUIRE(arrives(a, *there, b, 1));

    // One side still has an endpoint, so the connection stays.
    there.reset();
    for (int i = 0; i < 400; ++i) {
        virtual_time::now += 20'000'000;
        a.progress();
        b.progress();
    }
    CHECK(b.connections() == 1);
    REQUIRE(sent(b, *back, a, 2));
    back.reset();
    REQUIRE(run({&a, &b}, [&] {
        virtual_time::now += 1'000'000;
        return a.connections() == 0 && b.connections() == 0;
    }));
    CHECK(a.inbox.size() == 1);

    there = a.connect(b.address());
    REQUIRE(arrives(a, *there, b, 3));
    CHECK(a.failures.empty());
    CHECK(b.failures.empty());
}

TEST_CASE("accepted messages arrive although the endpoint is destroyed") {
    worker a;
    worker b;
    auto via = a.connect(b.address());
    REQUIRE(sent(a, *via, b, 0));
    std::uint64_t next = 1;
    while (via->am_bcopy(
               1,
               [](void* arg, void* into, std::size_t capacity) {
                   std::memcpy(into, arg, sizeof(std::uint64_t));
                   return capacity;
               },
               &next) >= 0) {
        ++next;
    }
    via.reset();
    REQUIRE(run({&a, &b}, [&] { return b.inbox.size() == next; }));
    for (std::uint64_t i = 0; i < next; ++i)
        CHECK(number_of(b.inbox[i]) == i);
}

TEST_CASE("a flush ends when the kernel has taken everything") {
    worker a;
    worker b;
    const auto via = a.connect(b.address());
    CHECK(via->flush(nullptr) == UCS_OK);
    REQUIRE(sent(a, *via, b, 0));
    static bool over;
    over = false;
    uct::completion done{.done = [](uct::completion&) { over = true; }};
    while (via->am_bcopy(
               1, [](void*, void*, std::size_t capacity) { return capacity; }, nullptr) >= 0) {
    }
    REQUIRE(via->flush(&done) == UCS_INPROGRESS);
    CHECK_FALSE(over);
    REQUIRE(run({&a, &b}, [&] { return over; }));
    CHECK(via->flush(nullptr) == UCS_OK);
}

TEST_CASE("a peer that still uses the connection is asked once whether it may close") {
    const virtual_time time;
    worker a;
    connection_by_hand made(a);
    REQUIRE(sent(a, *made.via, a, 1));
    made.via.reset();

    uct::tcp::wire::frame_header frame{};
    std::array<std::byte, 16> message;
    REQUIRE(::recv(made.fd.get(), message.data(), message.size(), MSG_WAITALL) == 16);
    REQUIRE(run({&a}, [&] {
        virtual_time::now += 1'000'000;
        return hand_made_peer::readable(made.fd.get());
    }));
    REQUIRE(::recv(made.fd.get(), &frame, sizeof frame, MSG_WAITALL) == sizeof frame);
    CHECK(frame.kind == uct::tcp::wire::frame_kind::close_request);
    hand_made_peer::send_frame(made.fd.get(), uct::tcp::wire::frame_kind::close_denied);
    for (int i = 0; i < 500; ++i) {
        virtual_time::now += 20'000'000;
        a.progress();
    }
    CHECK_FALSE(hand_made_peer::readable(made.fd.get()));
    CHECK(a.connections() == 1);
}

// Regression test. The request to close was dropped with the connection, and with it the bytes that
// the flush waited for.
TEST_CASE("a flush ends although the connection closes before its request to close has left") {
    const virtual_time time;
    worker a;
    connection_by_hand made(a);
    REQUIRE(sent(a, *made.via, a, 1));
    made.via.reset();
    fill(other_end_of(made.fd.get()));
    for (int i = 0; i < 200; ++i) {
        virtual_time::now += 20'000'000;
        a.progress();
    }
    const auto again = a.connect(made.peer.address());
    REQUIRE(test::vfs_text(*again, "state") == "parting");
    unsigned ended = 0;
    struct counter : uct::completion {
        unsigned* count;
    } done{{.done =
                [](uct::completion& self) {
                    CHECK(self.status == UCS_OK);
                    ++*static_cast<counter&>(self).count;
                }},
           &ended};
    REQUIRE(again->flush(&done) == UCS_INPROGRESS);
    const bool both_ask = GENERATE(true, false);
    CAPTURE(both_ask);
    using uct::tcp::wire::frame_kind;
    hand_made_peer::send_frame(made.fd.get(),
                               both_ask ? frame_kind::close_request : frame_kind::close_granted);
    for (int i = 0; i < 1000; ++i)
        a.progress();
    CHECK(test::vfs_text(*again, "state") == "idle");
    CHECK(ended == 1);
    CHECK(again->flush(nullptr) == UCS_OK);
    CHECK(a.failures.empty());
}

// Regression test. The end of the message was lost when the reply was sent right after it.
TEST_CASE_METHOD(
    connected,
    "a message ends although the peer asks to close the connection while it is under way") {
    static unsigned completions;
    completions = 0;
    uct::completion done{.done = [](uct::completion&) { ++completions; }};
    bytes payload = filled(1 << 20, 7);
    fill_with(payload, done);

    using uct::tcp::wire::frame_kind;
    hand_made_peer::send_frame(made.fd.get(), frame_kind::close_request);
    // The message cannot proceed while the peer reads nothing.
    REQUIRE(run({}, [&] { return a.progress() > 0; }));
    REQUIRE(completions == 0);

    bytes room(1 << 16);
    bytes came;
    REQUIRE(run({&a}, [&] {
        const ssize_t got = ::recv(made.fd.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (got > 0) came.insert(came.end(), room.begin(), room.begin() + got);
        uct::tcp::wire::frame_header frame{};
        if (came.size() < sizeof frame) return false;
        std::memcpy(&frame, came.data() + came.size() - sizeof frame, sizeof frame);
        return frame.kind == frame_kind::close_denied && frame.mark == uct::tcp::wire::frame_mark;
    }));
    CHECK(run({&a}, [&] { return completions == 1; }));
    CHECK(a.failures.empty());
}

// Regression test. Destroying an endpoint while the peer was being greeted also destroyed the
// connection, and messages that the peer had sent on it were lost.
TEST_CASE("messages arrive on a connection whose maker has destroyed its endpoint") {
    worker a;
    connection_by_hand made(a);
    CHECK(a.connections() == 1);
    made.via.reset();
    struct {
        uct::tcp::wire::frame_header head{8, 1, uct::tcp::wire::frame_kind::message,
                                          uct::tcp::wire::frame_mark};
        std::uint64_t body = 77;
    } const frame;
    hand_made_peer::send_all(made.fd.get(), std::as_bytes(std::span(&frame, 1)));
    REQUIRE(run({&a}, [&] { return !a.inbox.empty(); }));
    CHECK(number_of(a.inbox[0]) == 77);
}
