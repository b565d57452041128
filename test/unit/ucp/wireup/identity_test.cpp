// Tests of wrong addresses of a worker, which hold another key or lead to another process: from the
// program, from clients of a listener that have proven nothing, and in messages for a worker that
// is not here.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/loopback_server.hpp"
#include "ucp/stream/wire.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "ucp/wireup/pairing.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using namespace wire;
using state = ucp::wireup::state;
using bytes = std::vector<std::byte>;

// The address of the peer with another key of the same uid.
bytes with_another_key(const bytes& address) {
    ucs::security::public_key identity = parsed(address).identity;
    for (std::size_t i = 8; i < identity.size(); ++i)
        identity[i] ^= std::byte{0x21};
    return with_key(address, identity);
}

// The address with the peer's key and the interface of another peer.
bytes with_interface_of(const bytes& address, const raw_peer& other) {
    auto changed = parsed(address);
    changed.entries = parsed(other.address()).entries;
    return ucp::address::pack(changed, false);
}

ucs::security::public_key any_identity() {
    return ucs::security::key_pair::random().public_half();
}

// A worker that knows only the addresses that the test gives it.
struct lone_world : raw_world {
    explicit lone_world(const uct::sim::parameters& params = {}) : raw_world({}, params) {
        peer_closes();
        close_by_force();
        settle();
        REQUIRE(worker->endpoints().size() == 0);
        REQUIRE(worker->peers().size() == 0);
    }

    // The endpoint sends a connection request. Returns the newest request that the peer has
    // received.
    [[nodiscard]] wireup_header send_request(ucp::ep& asking) {
        use(asking);
        wireup_header request{};
        for (const auto& each : peer.connection_messages())
            if (each.type == wireup_type::request) request = each;
        return request;
    }
    // The peer sends a reply for its endpoint `own_ep`.
    void reply_to(std::uint64_t ep_id, std::uint64_t own_ep) {
        deliver(wireup_type::reply, own_ep, ep_id);
    }
    // Checks that an endpoint from the right address connects, whichever side sends the request.
    void check_connects() {
        ucp::ep& asking = ep_to(peer.address());
        const wireup_header request = send_request(asking);
        REQUIRE(request.type == wireup_type::request);
        REQUIRE(request.ep == asking.id());
        reply_to(request.ep, 501);
        CHECK(ucp::wireup::state_of(asking) == state::ready);
        deliver(wireup_type::request, 502, ucp::peer_endpoints::first_apart_number);
        const auto answer = peer.connection_messages().back();
        CHECK(answer.type == wireup_type::reply);
        CHECK(answer.peer_ep_or_number == 502);
    }

    // Adds a client at a listener, which the program accepts.
    [[nodiscard]] ucs::result<ucp::ep*> accept_claim(std::uint64_t uid, const bytes& address) {
        auto made = accept_client(*worker, client_request(uid, address), clients.emplace_back());
        settle();
        return made;
    }

    // Lets the worker handle the messages that were sent.
    void take_arrivals() {
        network.advance(100'000);
        for (int i = 0; i < 20; ++i) {
            worker->progress();
            peer.progress();
        }
    }

    std::vector<ucs::unique_fd> clients;
};

// A world with a client that claims to be the peer and shows the address of a stranger.
struct claimed_world : lone_world {
    claimed_world() {
        const auto accepted = accept_claim(peer.uid(), with_interface_of(peer.address(), stranger));
        REQUIRE(accepted.ok());
        served = *accepted;
    }

    raw_peer stranger{network};
    ucp::ep* served = nullptr;
};

}  // namespace

TEST_CASE("a worker is reached after an endpoint was made from its uid with another key") {
    lone_world in;
    ucp::ep& wrong = in.ep_to(with_another_key(in.peer.address()));
    if (GENERATE(false, true)) {
        const wireup_header request = in.send_request(wrong);
        CHECK(request.type == wireup_type::request);
        in.reply_to(wrong.id(),
                    88);  // proven under the right key, which is not the key of the endpoint
        CHECK(ucp::wireup::state_of(wrong) == state::requested);
    }
    in.check_connects();
    CHECK(ucp::wireup::state_of(wrong) != state::ready);
}

TEST_CASE(
    "an endpoint with a worker's uid and another key does not disturb the worker's own endpoint") {
    raw_world in({});
    ucp::ep& wrong = in.ep_to(with_another_key(in.peer.address()));
    CHECK(&wrong.remote() != &in.ep().remote());
    in.use(wrong);
    wrong.remote().fail_alive(UCS_ERR_NO_MEMORY);
    in.settle();
    CHECK(wrong.failure() != UCS_OK);
    CHECK(ucp::wireup::state_of(in.ep()) == state::ready);
    in.peer_closes();
    CHECK(ucp::wireup::state_of(in.ep()) == state::peer_closed);
}

TEST_CASE("a client's claim of a worker's identity does not keep the program from that worker",
          "[cm]") {
    lone_world in;
    raw_peer stranger(in.network);
    const bool other_key = GENERATE(false, true);
    const bytes claimed = other_key ? with_another_key(in.peer.address())
                                    : with_interface_of(in.peer.address(), stranger);
    SECTION("before") {
        const auto served = in.accept_claim(in.peer.uid(), claimed);
        REQUIRE(served.ok());
        in.check_connects();
        CHECK(ucp::wireup::state_of(**served) != state::ready);
    }
    SECTION("and after") {
        in.check_connects();
        const std::size_t endpoints = in.worker->endpoints().size();
        const auto served = in.accept_claim(in.peer.uid(), claimed);
        REQUIRE(served.ok());
        raw_world::close_by_force(ucp::capi::handle(**served));
        in.settle();
        in.check_connects();
        CHECK(in.worker->endpoints().size() >= endpoints);
    }
}

TEST_CASE("a client is served although another one claims to be the same worker", "[cm]") {
    claimed_world in;
    const auto served = in.accept_claim(in.peer.uid(), in.peer.address());
    REQUIRE(served.ok());
    const auto bind = in.peer.connection_messages().back();
    REQUIRE(bind.type == wireup_type::bind);
    REQUIRE(bind.ep == (*served)->id());
    in.reply_to(bind.ep, 55);
    CHECK(ucp::wireup::state_of(**served) == state::ready);
    // The client is proven: endpoints of the program share its lanes.
    const ucp::ep& own = in.ep_to(in.peer.address());
    CHECK(&own.remote() == &(*served)->remote());
    CHECK(ucp::wireup::state_of(*in.served) != state::ready);
}

TEST_CASE("a waiting client continues over the address that the program gives", "[cm]") {
    claimed_world in;
    const std::uint64_t id_known_to_stranger = in.served->id();
    const ucp::ep& own = in.ep_to(in.peer.address());
    in.settle();
    CHECK(&own.remote() == &in.served->remote());
    const auto bind = in.peer.connection_messages().back();
    REQUIRE(bind.type == wireup_type::bind);
    CHECK(bind.ep == in.served->id());
    CHECK(bind.ep != id_known_to_stranger);
    in.reply_to(bind.ep, 55);
    CHECK(ucp::wireup::state_of(*in.served) == state::ready);
    raw_world::close_by_force(ucp::capi::handle(*in.served));
    in.settle();
    CHECK(in.worker->peers().size() == 1);
}

TEST_CASE("a client whose worker has another address is not served", "[cm]") {
    claimed_world in;
    in.reply_to(in.served->id(), 55);
    CHECK(in.served->failure() == UCS_ERR_REJECTED);
    CHECK(in.peer.connection_messages().back().type == wireup_type::refuse);
}

TEST_CASE("many clients with one claimed uid cost few proofs per connection message", "[cm]") {
    lone_world in;
    const ucp::ep& own = in.ep_to(in.peer.address());
    auto claimed = parsed(in.peer.address());
    claimed.identity[9] ^= std::byte{0x21};
    const bool has_one_key = GENERATE(false, true);
    for (unsigned i = 1; i <= 100; ++i) {
        if (!has_one_key) claimed.identity[8] = static_cast<std::byte>(i);
        claimed.name = std::to_string(i);  // makes the addresses differ
        REQUIRE(in.accept_claim(in.peer.uid(), ucp::address::pack(claimed, false)).ok());
    }
    REQUIRE(in.worker->peers().size() == 101);
    std::size_t tested = 0;
    bool has_own = false;
    const auto count = [&](const ucp::peer& each) {
        ++tested;
        has_own |= &each == &own.remote();
        return false;
    };
    CHECK(in.worker->peers().find_proving(in.peer.uid(), count) == nullptr);
    CHECK(tested == (has_one_key ? 2 : 1 + 8));
    CHECK(has_own);
    in.check_connects();
}

TEST_CASE("a client's address that is not its worker's is refused", "[cm]") {
    lone_world in;
    const test::log_capture log;
    const bool readable = GENERATE(false, true);
    const auto served = in.accept_claim(in.peer.uid() + 1,
                                        readable ? in.peer.address() : bytes(20, std::byte{0xee}));
    CHECK_FALSE(served.ok());
    CHECK(log.count("", ucs::log::level::warn) == 1);
    CHECK(in.worker->peers().size() == 0);
    CHECK(in.worker->endpoints().size() == 0);
}

TEST_CASE("a client that claims the server's own key with another address is refused", "[cm]") {
    lone_world in;
    const bytes claimed = with_key(in.peer.address(), in.worker->identity().public_half());
    const test::log_capture log;
    CHECK_FALSE(in.accept_claim(in.worker->uid(), claimed).ok());
    CHECK(log.count("this worker's own key", ucs::log::level::warn) == 1);
    CHECK(in.worker->peers().size() == 0);
    // A worker may be a client of its own listener.
    for (const bool net_only : {false, true})
        CHECK(in.accept_claim(in.worker->uid(), in.worker->identity().address(net_only)).ok());
}

TEST_CASE("unproven connection messages leave no peer object") {
    lone_world in;
    for (const wireup_type type : {wireup_type::request, wireup_type::reply, wireup_type::bind,
                                   wireup_type::pair, wireup_type::paired, wireup_type::joined}) {
        const bytes packed = with_key(in.peer.address(), any_identity());
        wireup_header header = in.peer.about(type, 66, 0);
        header.uid = parsed(packed).uid();
        in.peer.send(wire::wireup, header, body_of(type, packed));
        in.take_arrivals();
        CHECK(in.worker->peers().size() == 0);
    }
}

namespace {

// A message for a worker that had this address before, sent in the name of the worker with this
// key. Its receiver cannot verify any proof of it.
struct stray {
    ucs::security::public_key identity;
    const raw_peer& address_of;
    wireup_type type = wireup_type::request;
    std::uint64_t ep = 66;

    void send(lone_world& in) const {
        const bytes packed = with_key(address_of.address(), identity);
        in.peer.send_as_it_is({type, {}, parsed(packed).uid(), in.worker->uid() + 1, ep, 0},
                              body_of(type, packed));
        in.take_arrivals();
    }
};

// A world with an interface that never answers, so that messages to it wait.
struct flooded_world : lone_world {
    flooded_world() : lone_world({.detection_time = 1000 * ucs::time::second}) {
        network.disconnect_worker(silent.uid());
    }

    raw_peer silent{network};
};

}  // namespace

TEST_CASE("messages for a worker that is not here keep few peer objects, and others are refused") {
    flooded_world in;
    const auto type = GENERATE(wireup_type::request, wireup_type::pair);
    const test::log_capture log;
    std::size_t most = 0;
    for (int i = 0; i < 300; ++i) {
        stray{any_identity(), in.silent, type}.send(in);
        most = std::max(most, in.worker->peers().size());
    }
    CHECK(most == 64);
    INFO(log.text());
    CHECK(log.count("the limit of refused workers is reached", ucs::log::level::warn) >= 1);
    CHECK(log.count("", ucs::log::level::warn) <= 25);
    in.network.advance(3 * ucs::time::second);
    stray{any_identity(), in.peer, type, 4711}.send(in);
    in.take_arrivals();
    CHECK(in.worker->peers().size() <= 64);
    const auto answer = in.peer.received_as_they_are<wireup_header>(wire::wireup).back();
    CHECK((type == wireup_type::pair ? answer.ep : answer.peer_ep_or_number) == 4711);
    in.settle();
    CHECK(in.worker->peers().size() == 0);
}

TEST_CASE("a message for a worker that is not here makes no lane for the program's own endpoint") {
    lone_world in;
    const auto type = GENERATE(wireup_type::request, wireup_type::pair);
    const ucp::ep& idle = in.ep_to(in.peer.address());
    const auto address = parsed(in.peer.address());
    stray{address.identity, in.peer, type, 4711}.send(in);
    in.take_arrivals();
    CHECK(!idle.remote().lanes().is_open());
    CHECK(!in_pairs(ucp::slot_of<ucp::wireup::pairing>(idle.remote()).state()));
    const auto answer = in.peer.received_as_they_are<wireup_header>(wire::wireup).back();
    CHECK((type == wireup_type::pair ? answer.ep : answer.peer_ep_or_number) == 4711);
    in.settle();
    CHECK(in.worker->peers().size() == 1);
    in.check_connects();
}

TEST_CASE("messages of one worker for another that is not here share one lane") {
    flooded_world in;
    const auto type = GENERATE(wireup_type::request, wireup_type::pair);
    const auto identity = any_identity();
    const test::log_capture log;
    std::size_t most = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
        stray{identity, in.silent, type, 100 + i}.send(in);
        most = std::max(most, in.worker->peers().size());
    }
    CHECK(most == 1);
    CHECK(log.count("the limit of waiting refusals to it is reached") >= 1);
    CHECK(log.count("", ucs::log::level::warn) <= 25);
    in.settle();
    CHECK(in.worker->peers().size() == 0);
}

TEST_CASE("the author of a false address gains nothing from the messages that it receives") {
    // Regression: the author of the address could write into the other worker's stream, and end the
    // endpoint later.
    lone_world in;
    raw_peer liar(in.network);  // a peer of the job, which knows the addresses of both workers
    in.drive([&] { return liar.progress(); });
    ucp::ep& asking = in.ep_to(with_interface_of(in.peer.address(), liar));
    in.use(asking);
    const auto received = liar.connection_messages(1);
    const wireup_header request = received.front();
    REQUIRE(request.type == wireup_type::request);
    CHECK(request.ep != asking.id());
    const auto streams = [&](std::uint64_t to) {
        liar.send(wire::stream_data, wire::stream_data_header{to}, bytes(8));
        in.settle();
        std::size_t length = 0;
        return ucp_stream_recv_data_nb(ucp::capi::handle(asking), &length) != nullptr;
    };
    liar.reach(*in.worker);
    CHECK_FALSE(streams(request.ep));
    CHECK_FALSE(streams(liar.unmasked(request).ep));
    in.deliver(wireup_type::request, 88, 0);
    REQUIRE(ucp::wireup::state_of(asking) == state::ready);
    REQUIRE(asking.remote_id() == 88);
    CHECK(in.peer.connection_messages().back().ep == asking.id());
    SECTION("the endpoint id") {
        CHECK_FALSE(streams(request.ep));
        REQUIRE(streams(asking.id()));  // a sender that knows the id is accepted
    }
    SECTION("the receipt") {
        wireup_header no{wireup_type::refuse, {}, in.peer.uid(), in.worker->uid(), 0, request.ep};
        no.receipt = request.receipt;
        liar.send_as_it_is(no);
        no.peer_ep_or_number = asking.id();
        liar.send_as_it_is(no);
        in.settle();
        CHECK(ucp::wireup::state_of(asking) == state::ready);
        CHECK(asking.failure() == UCS_OK);
    }
}

namespace {

// The peer's address with the interfaces of another peer in addition to its own.
bytes with_more_interfaces(const bytes& address, const raw_peer& other) {
    auto made = parsed(address);
    const auto more = parsed(other.address());
    made.entries.insert(made.entries.end(), more.entries.begin(), more.entries.end());
    return ucp::address::pack(made, false);
}

}  // namespace

TEST_CASE("no request reaches a client's endpoint, whatever its number", "[cm]") {
    claimed_world in;
    const test::log_capture log;
    in.peer.send(wireup_type::request, 502, in.served->number());
    in.take_arrivals();
    CHECK(ucp::wireup::state_of(*in.served) == state::requested);
    CHECK(log.count("belongs to a client by socket address", ucs::log::level::warn) == 1);
}

TEST_CASE("a client that was moved to an address without lanes is connected by its reply", "[cm]") {
    lone_world in;
    const raw_peer other(in.network);
    const bytes address = in.peer.address();
    const auto served = in.accept_claim(in.peer.uid(), with_more_interfaces(address, other));
    REQUIRE(served.ok());
    const auto id = (*served)->id();
    // The first message gives the address, and the second one arrives before that address was used.
    in.peer.send(wire::wireup, in.peer.about(wireup_type::pair, 9999, 0),
                 body_of(wireup_type::pair, address));
    in.peer.send(wire::wireup, in.peer.about(wireup_type::reply, 55, id), address);
    in.take_arrivals();
    CHECK(ucp::wireup::state_of(**served) == state::ready);
    CHECK((*served)->remote().lanes().is_open());
}

TEST_CASE("a partial message of a client that moves to another address keeps no receive", "[cm]") {
    // Regression: a receive that matched the partial message never ended, not even with the
    // endpoint.
    claimed_world in;
    constexpr std::uint64_t tag = 5, total = 1U << 20U;
    in.peer.send(wire::eager_first, wire::eager_first_header{tag, total, in.served->id(), 1, 0},
                 bytes(8));
    in.take_arrivals();
    const bool is_posted_before = GENERATE(false, true);
    bytes into(total);
    completion_record received;
    void* posted = is_posted_before ? in.post_receive(into, received) : nullptr;
    in.peer.send(wireup_type::request, 502, 0);
    in.take_arrivals();
    if (!is_posted_before) posted = in.post_receive(into, received);
    raw_world::close_by_force(ucp::capi::handle(*in.served));
    if (received.times == 0) ucp_request_cancel(in.worker_handle(), posted);
    in.take_arrivals();
    CHECK(received.times == 1);
}

TEST_CASE("receives of a client that moves to another address wait in no lane", "[cm]") {
    // Regression: a receive that waited in a lane of the old address was looked for in the lanes of
    // the new one.
    lone_world in({.bandwidth = 1e6, .tx_window = 2, .progress_batch = 100'000});
    const raw_peer other(in.network);
    const bytes address = in.peer.address();
    const auto served = in.accept_claim(in.peer.uid(), with_more_interfaces(address, other));
    REQUIRE(served.ok());
    const auto id = (*served)->id();
    const bytes data(std::size_t{1} << 18U);
    std::array<completion_record, 5> receives;
    std::array<bytes, 5> into;
    const auto deliver = [&] {
        // The worker handles all messages in one progress, later.
        int turn = 0;
        do {
            in.network.advance(20'000'000);
            in.peer.progress();
        } while (!in.peer.can_send() && ++turn < 200);
    };
    for (std::size_t i = 0; i < receives.size(); ++i) {
        into[i].resize(data.size());
        in.post_receive(into[i], receives[i]);
        in.peer.send(wire::rndv_rts, rts_of(data, id));
        deliver();
    }
    constexpr std::size_t window = 64;  // number of stream messages
    for (std::size_t i = 0; i < window; ++i) {
        in.peer.send(wire::stream_data, wire::stream_data_header{id}, bytes(4096));
        deliver();
    }
    in.peer.send(wire::wireup, in.peer.about(wireup_type::pair, 9999, 0),
                 body_of(wireup_type::pair, address));
    deliver();
    // One message more than the window allows: the endpoint fails.
    in.peer.send(wire::stream_data, wire::stream_data_header{id}, bytes(4096));
    deliver();
    in.take_arrivals();
    for (const completion_record& each : receives)
        CHECK(each.times == 1);
}
