// Unit tests: connections between workers that have the same job key, different ones, or none.
#include "test/support/log_capture.hpp"
#include "test/unit/uct/tcp/fixture.hpp"

using namespace tcp_test;
using ucs::security::key;

namespace {

const key job = key::from_text("the key of the job");
const key other_job = key::from_text("the key of another job");

// A send from `a` to `b` ends with UCS_ERR_UNREACHABLE, and both log the reason in one line.
void check_apart(const key* of_a, const key* of_b, const char* said_by_a, const char* said_by_b) {
    const test::log_capture log;
    worker a(nullptr, {}, of_a);
    worker b(nullptr, {}, of_b);
    const auto via = a.connect(b.address());
    CHECK(send(*via, 1) == UCS_ERR_NO_RESOURCE);
    REQUIRE(run({&a, &b}, [&] { return !a.failures.empty() && log.count(said_by_b) > 0; }));
    INFO(log.text());
    CHECK(a.failures == std::vector{UCS_ERR_UNREACHABLE});
    CHECK(log.count(said_by_a, ucs::log::level::error) == 1);
    CHECK(log.count(said_by_b, ucs::log::level::warn) == 1);
    CHECK(log.count("", ucs::log::level::warn) == 2);
    CHECK(b.inbox.empty());
    CHECK(b.peers() == 0);
}

}  // namespace

TEST_CASE("workers with the same job key talk in both directions") {
    worker a(nullptr, {}, &job);
    worker b(nullptr, {}, &job);
    const auto there = a.connect(b.address());
    const auto back = b.connect(a.address());
    REQUIRE(sent(a, *there, b, 1));
    REQUIRE(sent(b, *back, a, 2));
    REQUIRE(run({&a, &b}, [&] { return a.inbox.size() == 1 && b.inbox.size() == 1; }));
    CHECK(number_of(b.inbox[0]) == 1);
    CHECK(number_of(a.inbox[0]) == 2);
    CHECK(a.connections() == 1);
    CHECK(b.connections() == 1);
}

TEST_CASE("a worker with a job key sends to itself") {
    worker a(nullptr, {}, &job);
    const auto via = a.connect(a.address());
    CHECK(arrives(a, *via, a, 1));
}

TEST_CASE("workers that connect at once with a job key end with one connection") {
    worker a(nullptr, {}, &job);
    worker b(nullptr, {}, &job);
    const auto there = a.connect(b.address());
    const auto back = b.connect(a.address());
    CHECK(send(*there, 1) == UCS_ERR_NO_RESOURCE);
    CHECK(send(*back, 1) == UCS_ERR_NO_RESOURCE);
    REQUIRE(sent(a, *there, b, 1));
    REQUIRE(sent(b, *back, a, 1));
    REQUIRE(run({&a, &b}, [&] { return a.inbox.size() == 1 && b.inbox.size() == 1; }));
    REQUIRE(run({&a, &b}, [&] { return a.connections() == 1 && b.connections() == 1; }));
    CHECK(a.failures.empty());
    CHECK(b.failures.empty());
}

TEST_CASE("workers with different job keys do not connect, and both log what to do") {
    check_apart(&job, nullptr, "this process has a job key and the peer has none",
                "has a job key and this process has none");
    check_apart(nullptr, &job, "the peer has a job key and this process has none",
                "has no job key and this process has one");
    check_apart(&job, &other_job, "the job keys differ", "the keys differ");
}

TEST_CASE("a stranger that invents an interface id is not accepted") {
    const test::log_capture log;
    worker a;
    hand_made_peer stranger;
    const uct::tcp::address target = a.parsed_address();
    for (int i = 0; i < 50; ++i) {
        const auto fd = knock(a);
        uct::tcp::connecting_handshake guess(stranger.own, target.iface_id, key::random(), 1);
        hand_made_peer::send_all(fd.get(), guess.hello().bytes());
        auto done = uct::tcp::connecting_handshake::step::incomplete;
        REQUIRE(run({&a}, [&] {
            if (hand_made_peer::readable(fd.get())) done = stranger.receive(fd.get(), guess);
            return done == uct::tcp::connecting_handshake::step::unproven;
        }));
        std::array<std::byte, uct::tcp::wire::greeting_size + uct::tcp::wire::longest_tail> proof{};
        uct::tcp::wire::greeting{.kind = uct::tcp::wire::greeting_kind::proof,
                                 .attempt = 1,
                                 .from = 1000 + static_cast<unsigned>(i),
                                 .to = target.iface_id}
            .pack(std::span(proof).first<uct::tcp::wire::greeting_size>());
        hand_made_peer::send_all(fd.get(), proof);
        REQUIRE(run({&a}, [&] { return ended(fd.get()); }));
    }
    CHECK(a.peers() == 0);
    CHECK(a.connections() == 0);
    CHECK(log.count("does not prove that it knows this worker's address") ==
          ucs::log::throttle::first_lines + 1);
}

namespace {

// Connects to `remote` in the name of another interface. The caller has the addresses of both, and
// its own key pair.
ucs::unique_fd come_in_as(const uct::tcp::address& another, worker& remote) {
    const uct::tcp::credentials own(nullptr, false);
    const uct::tcp::address target = remote.parsed_address();
    uct::tcp::wire::greeting said{
        .attempt = 0x7fff0000, .from = another.iface_id, .to = target.iface_id};
    std::array<std::byte, uct::tcp::wire::greeting_size> head;
    said.pack(head);
    ucs::security::initiator exchange(uct::tcp::key_of_address(target), head);
    ucs::unique_fd fd = knock(remote);
    hand_made_peer::send_all(fd.get(),
                             uct::tcp::packed_greeting(said, exchange.challenge()).bytes());
    std::array<std::byte, uct::tcp::wire::greeting_size + 64> challenge{};
    REQUIRE(run({&remote}, [&] { return hand_made_peer::readable(fd.get()); }));
    REQUIRE(::recv(fd.get(), challenge.data(), challenge.size(), 0) ==
            static_cast<ssize_t>(challenge.size()));
    const auto tail =
        std::span<const std::byte>(challenge).subspan<uct::tcp::wire::greeting_size>();
    const auto proof = exchange.answer(tail.first<ucs::security::reply_size>());
    REQUIRE(proof);
    ucs::security::public_key open;
    std::copy_n(tail.begin() + ucs::security::reply_size, sizeof open, open.begin());
    const auto tag =
        uct::tcp::identity::agree(own.pair(), open, target.iface_id, exchange.session_key())
            ->of_connecting({});
    bytes record(proof->begin(), proof->end());
    record.insert(record.end(), own.pair().public_half().begin(), own.pair().public_half().end());
    record.resize(record.size() + sizeof(uct::tcp::address_tag));
    record.insert(record.end(), tag.begin(), tag.end());
    said.kind = uct::tcp::wire::greeting_kind::proof;
    hand_made_peer::send_all(fd.get(), uct::tcp::packed_greeting(said, record).bytes());
    return fd;
}

}  // namespace

TEST_CASE("a peer that connects in another's name is closed, and keeps no peer out") {
    const test::log_capture log;
    worker a;
    worker b;
    const auto early = come_in_as(b.parsed_address(), a);
    REQUIRE(run({&a}, [&] { return ended(early.get()); }));
    CHECK(a.peers() == 0);
    const auto via = b.connect(a.address());
    REQUIRE(arrives(b, *via, a, 1));
    const auto late = come_in_as(b.parsed_address(), a);
    REQUIRE(run({&a, &b}, [&] { return ended(late.get()); }));
    REQUIRE(arrives(b, *via, a, 2));
    CHECK(log.count("does not prove that it is the interface that it names") == 2);
    CHECK(b.failures.empty());
}
