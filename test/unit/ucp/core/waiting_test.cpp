// Answers to peers that do not read them.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/paired_world.hpp"
#include "ucp/address/address.hpp"
#include "ucp/mem/map.hpp"
#include "ucp/rma/wire.hpp"
#include "ucp/rndv/wire.hpp"
#include "ucp/stream/wire.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using wire::wireup_header;
using wire::wireup_type;

// Sends by one interface, and gives the address of another one, which is read when the test says
// so.
class slow_reader {
public:
    explicit slow_reader(uct::sim::fabric& network) : sender(network), reader_(network) {}

    [[nodiscard]] std::vector<std::byte> address() const {
        auto made = *ucp::address::parse(std::span<const std::byte>(sender.address()));
        made.entries = ucp::address::parse(std::span<const std::byte>(reader_.address()))->entries;
        return ucp::address::pack(made, false);
    }
    void read(raw_world& in) {
        do {
            in.settle();
        } while (reader_.progress() > 0);
    }
    [[nodiscard]] std::vector<wireup_header> connection_messages() const {
        std::vector<wireup_header> all = reader_.received<wireup_header>(wire::wireup);
        for (wireup_header& each : all)
            each = sender.unmasked(each);
        return all;
    }
    [[nodiscard]] std::size_t answers() const {
        return reader_.received<wire::room_header>(wire::room_answer).size();
    }

    raw_peer sender;

private:
    raw_peer reader_;
};

// Few messages wait in the network for a peer that does not read.
uct::sim::parameters short_queues() {
    uct::sim::parameters network;
    network.rx_queue = 4;
    network.reach = uct::scope::host;
    return network;
}

struct waiting_world : raw_world {
    waiting_world()
        : raw_world({{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "get_zcopy"}}, short_queues()) {}

    // Returns an endpoint of the program to the peer, which connects first.
    ucp::ep& connect(slow_reader& to) {
        to.sender.reach(*worker);
        to.sender.send(
            wire::wireup,
            wireup_header{wireup_type::request, {}, to.sender.uid(), worker->uid(), 88, 0},
            to.address());
        settle();
        to.read(*this);
        ucp::ep& made = **worker->create_ep(to.address().data(), {});
        REQUIRE(made.connection() == ucp::wireup::state::ready);
        REQUIRE(made.id() == to.connection_messages().back().ep);
        return made;
    }
    // Messages that the peer has sent arrive.
    void deliver(slow_reader& from) {
        do {
            settle();
        } while (from.sender.progress() > 0);
    }
    template<class Header>
    void send_often(slow_reader& from, uct::am_id id, const Header& header, unsigned times) {
        for (unsigned i = 0; i < times && from.sender.can_send(); ++i) {
            from.sender.send(id, header);
            if (i % 8 == 7) deliver(from);
        }
        deliver(from);
    }
    void ask(slow_reader& from, const ucp::ep& over, unsigned times) {
        send_often(from, wire::room_question, wire::room_header{over.id()}, times);
    }
    // The peer of the base class asks, reads, and has its answer.
    void check_serves_others() {
        const auto answers = [&] {
            return peer.received<wire::room_header>(wire::room_answer).size();
        };
        const std::size_t before = answers();
        peer.send(wire::room_question, wire::room_header{ep_id()});
        settle();
        CHECK(answers() == before + 1);
        CHECK(ep().failure() == UCS_OK);
    }
};

// A reader to which the program has an endpoint.
struct connected_reader : slow_reader {
    explicit connected_reader(waiting_world& in) : slow_reader(in.network), ep(in.connect(*this)) {}
    const ucp::ep& ep;
};

}  // namespace

TEST_CASE("a peer that asks and does not read fails, and others go on", "[ucp]") {
    waiting_world in;
    connected_reader greedy(in);
    connected_reader busy(in);
    const test::log_capture log;
    in.worker->waiting().set_most(40'000);
    in.ask(busy, busy.ep, 60);
    const std::uint64_t kept = in.worker->waiting().used();
    CHECK(kept > 60 * 64 / 2);
    in.ask(greedy, greedy.ep, 40);
    CHECK(in.worker->waiting().used() > kept);
    CHECK(greedy.ep.failure() == UCS_OK);
    in.ask(greedy, greedy.ep, 1000);
    CHECK(greedy.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.worker->waiting().used() == kept);
    CHECK(log.count("does not take the answers that it asks for") == 1);
    CHECK(busy.ep.failure() == UCS_OK);
    in.check_serves_others();
    // The busy one reads again and has lost nothing, the greedy one hears of its end.
    busy.read(in);
    CHECK(busy.answers() == 60);
    CHECK(in.worker->waiting().used() == 0);
    greedy.read(in);
    CHECK(greedy.connection_messages().back().type == wireup_type::failed);
    CHECK(!greedy.sender.can_send());
    CHECK(busy.sender.can_send());
}

TEST_CASE("gets whose data nobody reads count among the answers that wait", "[ucp][rma]") {
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
    SECTION("until they are read") {
        get(100);
        CHECK(in.worker->waiting().used() > 50 * cost);
        greedy.read(in);
        CHECK(in.worker->waiting().used() == 0);
        CHECK(greedy.ep.failure() == UCS_OK);
    }
    SECTION("and too many end the endpoint") {
        in.worker->waiting().set_most(100 * cost);
        get(300);
        CHECK(greedy.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
        CHECK(in.worker->waiting().used() == 0);
    }
    in.context->memories().remove(**made);
}

TEST_CASE("a receive that could not ask for its data ends with an endpoint that passed the limit",
          "[ucp][rndv]") {
    waiting_world in;
    connected_reader greedy(in);
    in.ask(greedy, greedy.ep, 40);
    constexpr std::size_t length = 1 << 20;
    const std::vector<std::byte> from(length, std::byte{1});
    std::vector<std::byte> into(length);
    told received;
    in.post_receive(into, received);
    greedy.sender.send(wire::rndv_rts, rts_of(from, greedy.ep.id()));
    in.settle();
    CHECK(received.times == 0);
    in.worker->waiting().set_most(1000);
    in.ask(greedy, greedy.ep, 1);
    CHECK(greedy.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.worker->recv_ids().size() == 0);
}

TEST_CASE("a device that was to write for a peer that passed a limit writes no more",
          "[ucp][rndv]") {
    // The receive waited for a peer that says nothing.
    paired_world in(1, {}, UCP_FEATURE_TAG, {{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "put_zcopy"}});
    const ucp_ep_h sender = in.connect(1);
    const std::vector<std::byte> from(1 << 20, std::byte{1});
    std::vector<std::byte> into(from.size());
    told sent;
    told received;
    const ucp_request_param_t of_send = sent.on_send();
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_send_nbx(sender, from.data(), from.size(), 1, &of_send)));
    REQUIRE(in.driver.run_until_quiet());
    const auto progress = [&] {
        for (int i = 0; i < 100; ++i) {
            in.network.advance(1000);
            in.workers[0]->progress();
        }
    };
    ucp::worker& receiver = *in.workers[0];
    ucp::peer* const greedy = receiver.find_peer(in.workers[1]->identity().open());
    REQUIRE(greedy != nullptr);
    const ucp_request_param_t of_receive = received.on_recv();
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(ucp::capi::handle(receiver), into.data(), into.size(),
                                            1, ~0ULL, &of_receive)));
    progress();
    REQUIRE(receiver.counted(ucp::activity::writes) == 1);
    REQUIRE(received.times == 0);
    greedy->fail_for_limit();
    progress();
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.driver.run_until_quiet());
    CHECK(sent.times == 1);
    CHECK(sent.status != UCS_OK);
}

TEST_CASE("a worker that is only refused and does not read goes when too much waits", "[ucp]") {
    waiting_world in;
    slow_reader greedy(in.network);
    greedy.sender.reach(*in.worker);
    const std::size_t before = in.worker->peer_count();
    const auto refuse = [&](unsigned times) {
        const wireup_header unwanted{wireup_type::request, {},  greedy.sender.uid(),
                                     in.worker->uid() + 1, 100, 0};
        for (unsigned i = 0; i < times; ++i)
            in.worker->refuse(ucp::worker::evidence::none, unwanted, greedy.address());
        in.settle();
    };
    refuse(100);
    CHECK(in.worker->peer_count() == before + 1);
    CHECK(in.worker->waiting().used() > 0);
    in.worker->waiting().set_most(1000);
    refuse(1);
    CHECK(in.worker->waiting().used() == 0);
    CHECK(in.worker->peer_count() == before);
    in.check_serves_others();
}

TEST_CASE("stored bytes of an endpoint that its peer has closed count no more", "[ucp][stream]") {
    // Its last word waited for a peer that did not read, so that others failed for its bytes.
    waiting_world in;
    slow_reader greedy(in.network);
    greedy.sender.reach(*in.worker);
    const auto say = [&](wireup_type type, std::uint64_t remote_ep) {
        greedy.sender.send(
            wire::wireup,
            wireup_header{type, {}, greedy.sender.uid(), in.worker->uid(), 88, remote_ep},
            type == wireup_type::request ? greedy.address() : std::vector<std::byte>());
        in.deliver(greedy);
    };
    say(wireup_type::request, 0);
    greedy.read(in);
    const ucp::ep* const made = in.worker->find_ep(greedy.connection_messages().back().ep);
    REQUIRE(made != nullptr);
    in.ask(greedy, *made, 32);
    REQUIRE(in.worker->waiting().used() > 0);
    greedy.sender.send(wire::stream_data, wire::stream_data_header{made->id()},
                       std::vector<std::byte>(1000));
    in.deliver(greedy);
    REQUIRE(in.worker->unread().used() > 0);
    say(wireup_type::close, made->id());
    REQUIRE(in.worker->find_ep(made->id()) == made);  // its last word waits
    CHECK(in.worker->unread().used() == 0);
    const std::uint64_t id = made->id();
    greedy.read(in);
    CHECK(in.worker->find_ep(id) == nullptr);
}

TEST_CASE("a peer whose share of a limit stays fails once, and then the others", "[ucp]") {
    // It was chosen again and again, and no other peer failed.
    waiting_world in;
    const connected_reader first(in);
    const connected_reader second(in);
    const test::log_capture log;
    ucp::shared_limit& limit = in.worker->waiting();
    ucp::limit_share& stuck = first.ep.remote().waiting_share;
    ucp::limit_share& other = second.ep.remote().waiting_share;
    limit.set_most(1000);
    in.worker->take(limit, other, 600);
    in.worker->take(limit, stuck, 2000);
    in.settle();
    CHECK(first.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(second.ep.failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(in.worker->find_peer_with_most(&ucp::peer::waiting_share) == nullptr);
    in.settle();
    CHECK(log.count("does not take the answers") == 2);
    in.check_serves_others();
    limit.give_back(other, 600);
    limit.give_back(stuck, 2000);
}

TEST_CASE("a peer that lost a control message and then its lane fails alone", "[ucp]") {
    // Its connection ended as well, and with it the worker's next one there.
    raw_world in({});
    ucp::peer& lost = in.ep().remote();
    REQUIRE(lost.connection() != 0);
    in.worker->fail_later(lost);  // as for a control message for which memory lacks
    lost.lane_failed(lost.am(), UCS_ERR_NO_MEMORY);
    CHECK(in.ep().failure() == UCS_ERR_NO_MEMORY);
    in.peer.send(wire::wireup,
                 wireup_header{wireup_type::request, {}, in.peer.uid(), in.worker->uid(), 88, 5},
                 in.peer.address());
    in.settle();
    ucp::peer* const next = in.worker->find_peer(in.peer.keys().open());
    REQUIRE(next != nullptr);
    CHECK(next->connection() == lost.connection());
    in.settle();
    CHECK(in.peer.can_send());
    const ucp::ep* const again =
        in.worker->find_ep(in.peer.received<wireup_header>(wire::wireup).back().ep);
    REQUIRE(again != nullptr);
    CHECK(again->failure() == UCS_OK);
}

TEST_CASE("nobody makes answers wait for another worker until it fails", "[ucp][rndv]") {
    waiting_world in;
    slow_reader busy(in.network);  // has asked for nothing
    const ucp::ep& to_busy = in.connect(busy);
    raw_peer other(in.network);
    in.drive([&] { return other.progress(); });
    other.reach(*in.worker);
    const test::log_capture log;
    in.worker->waiting().set_most(80'000);
    const wire::rtr_header question{
        .request = 4711, .reply = 1, .address = 1, .from = 0, .ep = 0, .uid = busy.sender.uid()};
    for (int i = 0; i < 2000; ++i) {
        other.send(wire::rndv_rtr, question);
        in.handle_arrivals();
        other.progress();
    }
    in.settle();
    CHECK(to_busy.failure() == UCS_OK);
    CHECK(log.count("for whose receiver enough answers wait", ucs::log::level::warn) > 0);
    // Its own questions are answered, however many wait.
    in.worker->waiting().set_most(1'000'000);
    const std::uint64_t before = in.worker->waiting().used();
    in.send_often(busy, wire::rndv_rtr, question, 100);
    CHECK(in.worker->waiting().used() > before);
    CHECK(to_busy.failure() == UCS_OK);
}
