// Tests of the limits on replies that wait for peers which do not read.

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/paired_world.hpp"
#include "ucp/address/address.hpp"
#include "ucp/mem/map.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/rma/wire.hpp"
#include "ucp/stream/endpoint.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/refusals.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using wire::wireup_header;
using wire::wireup_type;

// A peer that sends by one interface and states the address of another one, which is read only when
// the test says so.
class slow_reader {
public:
    explicit slow_reader(uct::sim::fabric& network) : sender(network), reader_(network) {}

    [[nodiscard]] std::vector<std::byte> address() const {
        auto made = parsed(sender.address());
        made.entries = parsed(reader_.address()).entries;
        return ucp::address::pack(made, false);
    }
    void read(raw_world& in) {
        do {
            in.settle();
        } while (reader_.progress() > 0);
    }
    [[nodiscard]] std::vector<wireup_header> connection_messages() const {
        std::vector<wireup_header> all = reader_.connection_messages();
        for (wireup_header& each : all)
            each = sender.unmasked(each);
        return all;
    }
    [[nodiscard]] std::size_t replies() const {
        return reader_.received<wire::credit_header>(wire::credit_grant).size();
    }

    raw_peer sender;

private:
    raw_peer reader_;
};

// Only few messages fit into the network's queue to a peer that does not read.
struct waiting_world : raw_world {
    waiting_world()
        : raw_world({{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "get_zcopy"}},
                    {.reach = uct::scope::host, .rx_queue = 4}) {}

    // Returns an endpoint of the program to the peer, which connects first.
    ucp::ep& connect(slow_reader& to) {
        to.sender.reach(*worker);
        to.sender.send(wire::wireup, to.sender.about(wireup_type::request, 88, 0), to.address());
        settle();
        to.read(*this);
        ucp::ep& made = **ucp::wireup::create_ep(*worker, to.address().data(), {});
        REQUIRE(ucp::wireup::state_of(made) == ucp::wireup::state::ready);
        REQUIRE(made.id() == to.connection_messages().back().ep);
        return made;
    }
    // Delivers the messages that the peer has sent.
    void deliver_from(slow_reader& from) {
        do {
            settle();
        } while (from.sender.progress() > 0);
    }
    template<class Header>
    void send_often(slow_reader& from, uct::am_id id, const Header& header, unsigned times) {
        for (unsigned i = 0; i < times && from.sender.can_send(); ++i) {
            from.sender.send(id, header);
            if (i % 8 == 7) deliver_from(from);
        }
        deliver_from(from);
    }
    void request_credits(slow_reader& from, const ucp::ep& over, unsigned times) {
        send_often(from, wire::credit_request, wire::credit_header{over.id()}, times);
    }
    // Checks that the peer of the base class gets a reply to its request.
    void check_serves_others() {
        const auto replies = [&] {
            return peer.received<wire::credit_header>(wire::credit_grant).size();
        };
        const std::size_t before = replies();
        deliver(wire::credit_request, wire::credit_header{ep_id()});
        CHECK(replies() == before + 1);
        CHECK(ep().failure() == UCS_OK);
    }
};

// A slow reader to which the program has an endpoint.
struct connected_reader : slow_reader {
    explicit connected_reader(waiting_world& in) : slow_reader(in.network), ep(in.connect(*this)) {}
    const ucp::ep& ep;
};

}  // namespace

TEST_CASE("a peer that sends requests and does not read fails, and others continue", "[ucp]") {
    waiting_world in;
    connected_reader greedy(in);
    connected_reader busy(in);
    const test::log_capture log;
    in.worker->limits().waiting().set_most(40'000);
    in.request_credits(busy, busy.ep, 60);
    const std::uint64_t kept = in.worker->limits().waiting().used();
    CHECK(kept > 60 * 64 / 2);
    in.request_credits(greedy, greedy.ep, 40);
    CHECK(in.worker->limits().waiting().used() > kept);
    CHECK(greedy.ep.failure() == UCS_OK);
    in.request_credits(greedy, greedy.ep, 1000);
    CHECK(greedy.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.worker->limits().waiting().used() == kept);
    CHECK(log.count("does not take the answers that it asks for") == 1);
    CHECK(busy.ep.failure() == UCS_OK);
    in.check_serves_others();
    // The busy peer reads again and has lost nothing; the greedy peer is notified of its end.
    busy.read(in);
    CHECK(busy.replies() == 60);
    CHECK(in.worker->limits().waiting().used() == 0);
    greedy.read(in);
    CHECK(greedy.connection_messages().back().type == wireup_type::failed);
    CHECK(!greedy.sender.can_send());
    CHECK(busy.sender.can_send());
}

TEST_CASE("gets whose data is not read count as waiting replies", "[ucp][rma]") {
    waiting_world in;
    connected_reader greedy(in);
    std::vector<std::byte> bytes(4096);
    const auto made =
        ucp::mem::map(in.context->memories(), {.address = bytes.data(), .length = bytes.size()});
    REQUIRE(made.ok());
    const auto owner = (*made)->owner();
    const auto get = [&](unsigned times) {
        in.send_often(
            greedy, wire::rma_get,
            wire::get_header{greedy.ep.id(), owner.id, owner.secret, (*made)->address(), 8, 5},
            times);
    };
    const std::size_t cost = in.worker->requests().cost();
    SECTION("until their data is read") {
        get(100);
        CHECK(in.worker->limits().waiting().used() > 50 * cost);
        greedy.read(in);
        CHECK(in.worker->limits().waiting().used() == 0);
        CHECK(greedy.ep.failure() == UCS_OK);
    }
    SECTION("and too many end the endpoint") {
        in.worker->limits().waiting().set_most(100 * cost);
        get(300);
        CHECK(greedy.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
        CHECK(in.worker->limits().waiting().used() == 0);
    }
    in.context->memories().remove(**made);
}

TEST_CASE("a receive whose data request has not left ends when its endpoint passes the limit",
          "[ucp][rndv]") {
    waiting_world in;
    connected_reader greedy(in);
    in.request_credits(greedy, greedy.ep, 40);
    constexpr std::size_t length = 1 << 20;
    const std::vector<std::byte> from(length, std::byte{1});
    std::vector<std::byte> into(length);
    completion_record received;
    in.post_receive(into, received);
    greedy.sender.send(wire::rndv_rts, rts_of(from, greedy.ep.id()));
    in.settle();
    CHECK(received.times == 0);
    in.worker->limits().waiting().set_most(1000);
    in.request_credits(greedy, greedy.ep, 1);
    CHECK(greedy.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(ucp::slot_of<ucp::request_ids>(*in.worker).receives.size() == 0);
}

TEST_CASE("a device writes no more for a peer that passed a limit", "[ucp][rndv]") {
    // Regression: the receive waited for a peer that sends nothing.
    paired_world in(1, {}, UCP_FEATURE_TAG, {{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "put_zcopy"}});
    const ucp_ep_h sender = in.connect(1);
    const std::vector<std::byte> from(1 << 20, std::byte{1});
    std::vector<std::byte> into(from.size());
    completion_record sent;
    completion_record received;
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_send_nbx(sender, from.data(), from.size(), 1, sent.on_send())));
    REQUIRE(in.driver.run_until_quiet());
    const auto progress = [&] {
        for (int i = 0; i < 100; ++i) {
            in.network.advance(1000);
            in.workers[0]->progress();
        }
    };
    ucp::worker& receiver = *in.workers[0];
    ucp::peer* const greedy = receiver.peers().find(in.workers[1]->identity().public_half());
    REQUIRE(greedy != nullptr);
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(ucp::capi::handle(receiver), into.data(), into.size(),
                                            1, ~0ULL, received.on_recv())));
    progress();
    REQUIRE(receiver.log().counted(ucp::activity::writes) == 1);
    REQUIRE(received.times == 0);
    greedy->fail_for_limit();
    progress();
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.driver.run_until_quiet());
    CHECK(sent.times == 1);
    CHECK(sent.status != UCS_OK);
}

TEST_CASE("the peer object of a refused worker that does not read goes when too much waits",
          "[ucp]") {
    waiting_world in;
    slow_reader greedy(in.network);
    greedy.sender.reach(*in.worker);
    const std::size_t before = in.worker->peers().size();
    const auto refuse = [&](unsigned times) {
        const wireup_header unwanted{wireup_type::request, {},  greedy.sender.uid(),
                                     in.worker->uid() + 1, 100, 0};
        for (unsigned i = 0; i < times; ++i)
            ucp::slot_of<ucp::wireup::refusals>(*in.worker)
                .refuse(ucp::wireup::evidence::none, unwanted, greedy.address());
        in.settle();
    };
    refuse(100);
    CHECK(in.worker->peers().size() == before + 1);
    CHECK(in.worker->limits().waiting().used() > 0);
    in.worker->limits().waiting().set_most(1000);
    refuse(1);
    CHECK(in.worker->limits().waiting().used() == 0);
    CHECK(in.worker->peers().size() == before);
    in.check_serves_others();
}

TEST_CASE("stored bytes of an endpoint that its peer has closed do not count", "[ucp][stream]") {
    // Regression: the endpoint's final message waited for a peer that did not read, so that others
    // failed for its bytes.
    waiting_world in;
    slow_reader greedy(in.network);
    greedy.sender.reach(*in.worker);
    const auto send_message = [&](wireup_type type, std::uint64_t remote_ep) {
        greedy.sender.send(
            wire::wireup, greedy.sender.about(type, 88, remote_ep),
            type == wireup_type::request ? greedy.address() : std::vector<std::byte>());
        in.deliver_from(greedy);
    };
    send_message(wireup_type::request, 0);
    greedy.read(in);
    const ucp::ep* const made = in.worker->endpoints().find(greedy.connection_messages().back().ep);
    REQUIRE(made != nullptr);
    in.request_credits(greedy, *made, 32);
    REQUIRE(in.worker->limits().waiting().used() > 0);
    greedy.sender.send(wire::stream_data, wire::stream_data_header{made->id()},
                       std::vector<std::byte>(1000));
    in.deliver_from(greedy);
    REQUIRE(slot_of<ucp::worker_streams>(*in.worker).unread.used() > 0);
    send_message(wireup_type::close, made->id());
    REQUIRE(in.worker->endpoints().find(made->id()) == made);  // its final message waits
    CHECK(slot_of<ucp::worker_streams>(*in.worker).unread.used() == 0);
    const std::uint64_t id = made->id();
    greedy.read(in);
    CHECK(in.worker->endpoints().find(id) == nullptr);
}

TEST_CASE("a peer whose share of a limit stays fails once, and then the others", "[ucp]") {
    // Regression: the same peer was chosen again and again, and no other peer failed.
    waiting_world in;
    const connected_reader first(in);
    const connected_reader second(in);
    const test::log_capture log;
    ucp::shared_limit& limit = in.worker->limits().waiting();
    ucp::limit_share& stuck = first.ep.remote().waiting_share;
    ucp::limit_share& other = second.ep.remote().waiting_share;
    limit.set_most(1000);
    in.worker->limits().take(limit, other, 600);
    in.worker->limits().take(limit, stuck, 2000);
    in.settle();
    CHECK(first.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(second.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.worker->peers().find_with_most([](const ucp::peer& each) -> const ucp::limit_share& {
        return each.waiting_share;
    }) == nullptr);
    in.settle();
    CHECK(log.count("does not take the answers") == 2);
    in.check_serves_others();
    limit.give_back(other, 600);
    limit.give_back(stuck, 2000);
}

TEST_CASE("a peer that lost a control message and then its lane fails alone", "[ucp]") {
    // Regression: its connection ended as well, and with it the next connection of that worker.
    raw_world in({});
    ucp::peer& lost = in.ep().remote();
    REQUIRE(lost.connection != 0);
    in.worker->postponed().fail_later(
        lost);  // as for a control message that is lost for lack of memory
    ucp::slot_of<ucp::wireup::lane_setup>(lost).lane_failed(lost.lanes().am(), UCS_ERR_NO_MEMORY);
    CHECK(in.ep().failure() == UCS_ERR_NO_MEMORY);
    in.deliver(wireup_type::request, 88, 5);
    ucp::peer* const next = in.worker->peers().find(in.peer.keys().public_half());
    REQUIRE(next != nullptr);
    CHECK(next->connection == lost.connection);
    in.settle();
    CHECK(in.peer.can_send());
    const ucp::ep* const again =
        in.worker->endpoints().find(in.peer.connection_messages().back().ep);
    REQUIRE(again != nullptr);
    CHECK(again->failure() == UCS_OK);
}

TEST_CASE("a worker does not fail because of replies to requests that others send in its name",
          "[ucp][rndv]") {
    waiting_world in;
    slow_reader busy(in.network);  // has sent no request
    const ucp::ep& to_busy = in.connect(busy);
    raw_peer other(in.network, *in.worker);
    in.drive([&] { return other.progress(); });
    const test::log_capture log;
    in.worker->limits().waiting().set_most(80'000);
    const wire::rtr_header request{
        .request = 4711, .reply = 1, .address = 1, .from = 0, .ep = 0, .uid = busy.sender.uid()};
    for (int i = 0; i < 2000; ++i) {
        other.send(wire::rndv_rtr, request);
        in.handle_arrivals();
        other.progress();
    }
    in.settle();
    CHECK(to_busy.failure() == UCS_OK);
    CHECK(log.count("too many replies wait for its receiver", ucs::log::level::warn) > 0);
    // The worker's own requests get replies, however many wait.
    in.worker->limits().waiting().set_most(1'000'000);
    const std::uint64_t before = in.worker->limits().waiting().used();
    in.send_often(busy, wire::rndv_rtr, request, 100);
    CHECK(in.worker->limits().waiting().used() > before);
    CHECK(to_busy.failure() == UCS_OK);
}
