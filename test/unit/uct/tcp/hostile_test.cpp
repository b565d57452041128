#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <optional>

#include "test/support/child.hpp"
#include "test/support/descriptor_limit.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "test/unit/uct/tcp/fixture.hpp"
#include "uct/tcp/iface.hpp"

using namespace tcp_test;

namespace {

const bytes garbage = filled(64, 0x55);

bool still_works(worker& a) {
    worker b;
    const auto via = b.connect(a.address());
    return arrives(b, *via, a, 1);
}

// Waits until the other side's kernel has all sent bytes.
bool arrived(int fd) {
    int underway = 0;
    REQUIRE(::ioctl(fd, SIOCOUTQ, &underway) == 0);
    return underway == 0;
}

// From here on, sends of the other side fail.
void reset(ucs::unique_fd& fd) {
    const linger now{1, 0};
    REQUIRE(::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
    fd.reset();
}

}  // namespace

TEST_CASE("a stranger with another protocol is disconnected") {
    worker a;
    const auto stranger = knock(a);
    const std::string text = "GET / HTTP/1.1\r\nHost: somebody.example\r\n\r\n";
    hand_made_peer::send_all(stranger.get(), std::as_bytes(std::span(text)));
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

TEST_CASE("more strangers than the limit do not keep peers out for ever") {
    worker a("TCP_HANDSHAKE_TIMEOUT", "50ms");
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 300; ++i)
        crowd.push_back(knock(a));
    CHECK(still_works(a));
}

TEST_CASE("silent strangers make room long before the handshake timeout") {
    const test::log_capture log;
    worker a("TCP_HANDSHAKE_TIMEOUT", "1h");
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 600; ++i)
        crowd.push_back(knock(a));
    CHECK(still_works(a));
    CHECK(log.count("have not identified themselves") == 1);
}

TEST_CASE("strangers that send garbage repeatedly do not fill the log") {
    const test::log_capture log;
    worker a;
    for (int i = 0; i < 60; ++i) {
        const auto stranger = knock(a);
        hand_made_peer::send_all(stranger.get(), garbage);
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
    // Pending connections are served in turn.
    const auto stranger = knock(a);
    hand_made_peer::send_all(stranger.get(), garbage);
    REQUIRE(run({&a}, [&] { return ended(stranger.get()); }));
    CHECK(run({&a}, [&] { return a.peers() == 0; }));
    CHECK(still_works(a));
}

TEST_CASE("a greeted peer that sends an invalid frame is disconnected") {
    worker a;
    const connection_by_hand made(a);
    hand_made_peer::send_all(made.fd.get(), garbage);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_CONNECTION_RESET});
    CHECK(still_works(a));
}

TEST_CASE("a closed connection that a child process still holds has ended for this process") {
    worker a;
    connection_by_hand made(a);
    REQUIRE(sent(a, *made.via, a, 1));
    test::child_process child([](int) { ::pause(); });
    hand_made_peer::send_all(made.fd.get(), garbage);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    made.via.reset();
    REQUIRE(run({&a}, [&] { return a.connections() == 0; }));
    // The child's copy of the socket receives the data; the interface must not.
    hand_made_peer::send_all(made.fd.get(), garbage);
    REQUIRE(run({&a}, [&] { return arrived(made.fd.get()); }));
    bool idle = false;
    for (int i = 0; i < 1000; ++i)
        idle |= a.progress() == 0;
    CHECK(idle);
    child.kill();
    CHECK(still_works(a));
}

namespace {

// A worker that connects to a peer.
struct connecting {
    connecting() { CHECK(send(*via, 1) == UCS_ERR_NO_RESOURCE); }
    const test::log_capture log;
    const test::virtual_time clock;
    worker a;
    const hand_made_peer peer;
    const std::unique_ptr<uct::ep> via = a.connect(peer.address());
};

}  // namespace

TEST_CASE_METHOD(connecting, "a refusal and a foreign answer end the endpoint, not the worker") {
    const ucs::unique_fd other = knock(a);
    peer.greet(other.get(), uct::tcp::wire::greeting_kind::refusal, a.parsed_address().iface_id, 1);
    CHECK(run({&a}, [&] { return ended(other.get()); }));
    CHECK(still_works(a));
}

TEST_CASE_METHOD(connecting,
                 "an unproven process on a peer's port that claims to win a race is no peer") {
    const ucs::unique_fd fd = peer.accept(a);
    peer.refuse(fd.get(), a.parsed_address().iface_id, uct::tcp::wire::refusal_reason::lost_race);
    REQUIRE(run({&a}, [&] { return ended(fd.get()) || !a.failures.empty(); }));
    a.progress();
    CHECK(a.failures == std::vector{UCS_ERR_UNREACHABLE});
    CHECK(log.count("does not prove that it is the peer") == 1);
}

TEST_CASE_METHOD(connecting,
                 "a peer that always claims to win the race and never connects is given up") {
    unsigned refusals = 0;
    while (a.failures.empty() && refusals < 100) {
        const ucs::unique_fd fd = peer.accept(a);
        const auto greeted = peer.prove_to(a, fd.get());
        peer.refuse(fd.get(), greeted.hello().from, uct::tcp::wire::refusal_reason::lost_race);
        ++refusals;
        REQUIRE(run({&a}, [&] { return ended(fd.get()); }));
        clock.now += 2 * ucs::time::second;
        a.progress();
    }
    CHECK(refusals == 11);
    CHECK(a.failures == std::vector{UCS_ERR_UNREACHABLE});
    CHECK(log.count("because it connects itself") == 1);
}

TEST_CASE_METHOD(connecting,
                 "a peer that accepts and stays silent is given up after enough checks") {
    const ucs::unique_fd fd = peer.accept(a);
    const auto looks_until_failure = [&](ucs::time::nanoseconds pause) {
        unsigned looks = 0;
        while (a.failures.empty() && looks < 1000) {
            via->check();
            a.progress();
            clock.now += pause;
            ++looks;
        }
        return looks;
    };
    SECTION("as often as by default") {
        CHECK(looks_until_failure(5 * ucs::time::second) == 12);
    }
    SECTION("often, and then as long all the same") {
        CHECK(looks_until_failure(ucs::time::second / 4) == 81);
    }
    SECTION("after a pause of this process it has time again") {
        CHECK(looks_until_failure(3600 * ucs::time::second) == 12);
    }
    SECTION("nobody asks") {
        for (int i = 0; i < 100; ++i) {
            clock.now += 60 * ucs::time::second;
            a.progress();
        }
        CHECK(a.failures.empty());
        return;
    }
    CHECK(a.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
    CHECK(log.count("does not answer the greeting") == 1);
}

TEST_CASE("a peer with many interfaces of its own keeps a bounded number of connections") {
    const test::log_capture log;
    std::optional<test::descriptor_limit> few(400);
    worker a;
    worker b;
    few.reset();
    // A connection that has sent something stays, and so does one with an endpoint.
    const auto via = b.connect(a.address());
    REQUIRE(arrives(b, *via, a, 1));
    connection_by_hand with_endpoint(a);
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 130; ++i)
        crowd.push_back(hand_made_peer().come_in(a));
    // The last connection is accepted: the welcome has come.
    REQUIRE(run({&a, &b}, [&] { return hand_made_peer::readable(crowd.back().get()); }));
    REQUIRE(run({&a, &b}, [&] { return a.connections() <= 101; }));
    CHECK(log.count("nothing here has an endpoint to them") == 1);
    REQUIRE(arrives(b, *via, a, 2));
    CHECK(a.connections() == 101);
    CHECK(b.failures.empty());
    CHECK_FALSE(ended(with_endpoint.fd.get()));
}

TEST_CASE("a peer that never agrees to close unused connections keeps a bounded number") {
    const test::log_capture log;
    const test::virtual_time clock;
    std::optional<test::descriptor_limit> few(400);
    worker a;
    few.reset();
    connection_by_hand with_endpoint(a);
    const bool answers_greeting = GENERATE(true, false);
    CAPTURE(answers_greeting);
    std::vector<std::unique_ptr<hand_made_peer>> peers;
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 130; ++i) {
        peers.push_back(std::make_unique<hand_made_peer>());
        const auto via = a.connect(peers.back()->address());
        CHECK(send(*via, 1) == UCS_ERR_NO_RESOURCE);  // begins to connect
        crowd.push_back(answers_greeting ? peers.back()->let_in(a) : peers.back()->accept(a));
        if (answers_greeting) REQUIRE(sent(a, *via, a, 1));
    }
    clock.now += 2 * ucs::time::second;
    REQUIRE(run({&a}, [&] { return a.connections() <= 101; }));
    CHECK(log.count("nothing here has an endpoint to them") == 1);
    CHECK_FALSE(ended(with_endpoint.fd.get()));
    CHECK(a.failures.empty());
}

namespace {

// Two workers. The first has the smaller id and so decides races. A client of both names the
// interface of the second in an address with its own port.
struct claimed_interface {
    explicit claimed_interface(bool knows_secret) {
        do {
            first = std::make_unique<worker>();
            second = std::make_unique<worker>();
        } while (first->parsed_address().iface_id > second->parsed_address().iface_id);
        claimed = *uct::tcp::address::parse(client.address(), 0);
        claimed.iface_id = second->parsed_address().iface_id;
        if (knows_secret) claimed.secret = second->parsed_address().secret;
        bytes packed(claimed.packed_size());
        claimed.pack(packed);
        false_ep = first->connect(packed);
        CHECK(send(*false_ep, 99) == UCS_ERR_NO_RESOURCE);
        silent = client.accept(*first);
    }

    std::unique_ptr<worker> first;
    std::unique_ptr<worker> second;
    hand_made_peer client;
    uct::tcp::address claimed;
    std::unique_ptr<uct::ep> false_ep;
    ucs::unique_fd silent;  // the client's end
};

}  // namespace

TEST_CASE("an address that names another interface does not separate two workers") {
    const bool knows_secret = GENERATE(false, true);
    CAPTURE(knows_secret);
    claimed_interface in(knows_secret);
    const auto to_first = in.second->connect(in.first->address());
    REQUIRE(arrives(*in.second, *to_first, *in.first, 7));
    const auto to_second = in.first->connect(in.second->address());
    REQUIRE(arrives(*in.first, *to_second, *in.second, 8));
    CHECK(number_of(in.second->inbox[0]) == 8);
    CHECK(in.second->connections() == 1);
    // The endpoint of the false address receives nothing of it.
    CHECK(send(*in.false_ep, 99) == UCS_ERR_NO_RESOURCE);
    CHECK(in.first->failures.empty());
    CHECK(in.second->failures.empty());
    in.silent.reset();
}

TEST_CASE("workers that connect at once agree on one connection despite a false address") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        claimed_interface in(seed % 2 == 0);
        worker& a = *in.first;
        worker& b = *in.second;
        const auto there = a.connect(b.address());
        const auto back = b.connect(a.address());
        REQUIRE(exchange_at_random(a, *there, b, *back, 20, random));
        CHECK(a.connections() == 2);
        CHECK(b.connections() == 1);
        CHECK(a.failures.empty());
        CHECK(b.failures.empty());
    }
}

TEST_CASE("a client that knows an address without its key pair separates no peers") {
    claimed_interface in(true);
    // The client proves the secret, shows the public key of the second worker, and then sends
    // nothing.
    std::array<std::byte, 256> hello{};
    REQUIRE(::recv(in.silent.get(), hello.data(), hello.size(), 0) ==
            static_cast<ssize_t>(uct::tcp::wire::greeting_size + ucs::security::nonce_size));
    const std::span<const std::byte> received(hello);
    ucs::security::responder exchange(
        uct::tcp::key_of_address(in.claimed), received.first<uct::tcp::wire::greeting_size>(),
        received.subspan<uct::tcp::wire::greeting_size, ucs::security::nonce_size>());
    const auto& key_of_second =
        static_cast<uct::tcp::iface&>(*in.second->iface).own().pair().public_half();
    const ucs::security::reply answer = exchange.answer();
    bytes tail(answer.begin(), answer.end());
    tail.insert(tail.end(), key_of_second.begin(), key_of_second.end());
    hand_made_peer::send_all(in.silent.get(), uct::tcp::packed_greeting(
                                                  {.kind = uct::tcp::wire::greeting_kind::challenge,
                                                   .from = in.claimed.iface_id,
                                                   .to = in.first->parsed_address().iface_id},
                                                  tail)
                                                  .bytes());
    REQUIRE(run({in.first.get()}, [&] { return hand_made_peer::readable(in.silent.get()); }));
    const auto to_first = in.second->connect(in.first->address());
    REQUIRE(arrives(*in.second, *to_first, *in.first, 7));
    CHECK(in.second->failures.empty());
}

TEST_CASE("frames that peers begin and never complete take a bounded amount of memory") {
    constexpr std::size_t body = std::size_t{2} << 20;
    constexpr std::size_t most = std::size_t{9} << 20;
    const test::log_capture log;
    worker a;
    auto& limit = static_cast<uct::tcp::iface&>(*a.iface).unfinished();
    limit.set_most(most);
    const auto begin_frame = [&](int fd) {
        bytes frame(uct::tcp::wire::frame_size(body));
        const uct::tcp::wire::frame_header head{static_cast<std::uint32_t>(body), 1,
                                                uct::tcp::wire::frame_kind::message,
                                                uct::tcp::wire::frame_mark};
        std::memcpy(frame.data(), &head, sizeof head);
        std::size_t gone = 0;
        REQUIRE(run({&a}, [&] {  // all but one byte, which is missing for ever
            const ssize_t count = ::send(fd, frame.data() + gone, frame.size() - 1 - gone,
                                         MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count > 0) gone += static_cast<std::size_t>(count);
            return gone == frame.size() - 1;
        }));
        REQUIRE(run({&a}, [&] { return arrived(fd) && a.progress() == 0; }));
    };
    const auto finish_frame = [&](int fd) {
        const std::byte last{};
        REQUIRE(::send(fd, &last, 1, MSG_NOSIGNAL) == 1);
    };
    std::vector<ucs::unique_fd> crowd;
    for (int i = 0; i < 12; ++i) {
        crowd.push_back(hand_made_peer().come_in(a));
        begin_frame(crowd.back().get());
        CHECK(limit.used() <= most);
    }
    CHECK(log.count("has begun a long message") == 8);
    CHECK(a.connections() == 4);
    CHECK(run({&a}, [&] { return ended(crowd[7].get()); }));
    // A well-behaved peer can still send a long message.
    finish_frame(crowd.back().get());
    REQUIRE(run({&a}, [&] { return a.inbox.size() == 1; }));
    CHECK(a.inbox[0].size() == body);
    CHECK(still_works(a));
}

TEST_CASE("if descriptors run out, peers wait and the listening socket does not spin") {
    worker a;
    worker b;
    const auto via = b.connect(a.address());
    auto stranger = knock(a);

    std::optional<test::descriptor_limit> tight(test::descriptor_limit::next_descriptor());
    unsigned events = 0;
    for (int i = 0; i < 1000; ++i)
        events += a.progress();
    tight.reset();
    // There is one failed accept per pause of 100 ms with ten ticks in it, not one per progress.
    CHECK(events < 500);
    CHECK(arrives(b, *via, a, 1));
}
