// Tests of messages between a side that has given up paired lanes and a side that still has them,
// or that has made paired lanes unknown to the other.
#include <algorithm>
#include <catch2/catch.hpp>

#include "test/support/identities.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/address/address.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "uct/sim/component.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using type = wire::wireup_type;
using wire::wireup_header;

type over_pair(type plain) {
    return static_cast<type>(static_cast<std::uint8_t>(plain) | wire::over_pair);
}

// The raw peer's end of paired lanes: records the messages that arrive over it.
class raw_paired_iface {
public:
    raw_paired_iface(uct::sim::fabric& network, const raw_peer& whole)
        : whole_(whole),
          component_(network),
          events_(std::move(*ucs::async::event_loop::create())),
          config_(ucs::config::source::empty()) {
        iface_ = std::move(
            *component_.open(component_.query(config_).usable.front(),
                             {.events = *events_, .config = config_, .worker_uid = whole.uid()}));
        iface_->set_am_handler(wire::wireup,
                               {.deliver =
                                    [](void* arg, void* data, std::size_t) {
                                        auto& self = *static_cast<raw_paired_iface*>(arg);
                                        wireup_header header;
                                        std::memcpy(&header, data, sizeof header);
                                        self.received_.push_back(self.whole_.unmasked(header));
                                    },
                                .arg = this});
        iface_->set_am_handler(
            wire::rndv_rtr,
            {.deliver = [](void* arg, void*,
                           std::size_t) { ++static_cast<raw_paired_iface*>(arg)->data_requests_; },
             .arg = this});
    }
    // Makes the endpoint to the worker.
    void reach(std::span<const std::byte> iface_address) {
        ep_ = std::move(*iface_->create_ep(iface_address));
    }
    void connect_to(std::span<const std::byte> connection) {
        REQUIRE(ep_->connect_to(connection) == UCS_OK);
    }
    [[nodiscard]] std::vector<std::byte> address() const {
        std::vector<std::byte> made(iface_->attr().address_length);
        iface_->pack_address(made);
        return made;
    }
    [[nodiscard]] std::vector<std::byte> connection() const {
        std::vector<std::byte> made(iface_->attr().connection_length);
        ep_->pack_connection(made);
        return made;
    }
    void send(const wireup_header& header, const std::vector<std::byte>& body) {
        const wireup_header sealed = whole_.sealed(header, body);
        send_raw(*ep_, wire::wireup, &sealed, sizeof sealed, body);
    }
    void send_rts(const wire::rts_header& header, const std::vector<std::byte>& keys) {
        send_raw(*ep_, wire::rndv_rts, &header, sizeof header, keys);
    }
    void leave() { ep_.reset(); }
    unsigned progress() { return iface_->progress(); }
    [[nodiscard]] const std::vector<wireup_header>& received() const noexcept { return received_; }
    [[nodiscard]] unsigned data_requests() const noexcept { return data_requests_; }

private:
    const raw_peer& whole_;
    uct::sim::paired_component component_;
    std::unique_ptr<ucs::async::event_loop> events_;
    ucs::config::source config_;
    std::unique_ptr<uct::iface> iface_;
    std::unique_ptr<uct::ep> ep_;
    std::vector<wireup_header> received_;
    unsigned data_requests_ = 0;
};

// A worker with both transports, and a peer with both that the test plays.
struct world {
    explicit world(const uct::sim::parameters& params = {}) : network(1, params) {
        driver.add([this] { return worker->progress(); });
        driver.add([this] { return peer.progress(); });
        driver.add([this] { return paired.progress(); });
        peer.reach(*worker);
        const auto all = parsed(worker->identity().address(false));
        const auto entry = std::find_if(all.entries.begin(), all.entries.end(),
                                        [](const auto& each) { return each.transport == "simrc"; });
        REQUIRE(entry != all.entries.end());
        worker_paired = entry->iface_address;
        paired.reach(worker_paired);
        let_connect();
    }

    void settle() { REQUIRE(driver.run_until_quiet()); }
    void use(ucp::ep& which) {
        ucp::wireup::handle(which, ucp::wireup::event::use);
        settle();
    }
    // Waits until the played peer may send.
    void let_connect() { network.advance(network.network().max_connect_time); }

    // The address of the peer with both transports.
    [[nodiscard]] std::vector<std::byte> address() const {
        ucp::address::worker_address all = parsed(peer.address());
        all.entries.push_back(
            {"simrc", "rnode", uct::scope::network, 1e-7F, 1e10F, 0, paired.address()});
        return ucp::address::pack(all, false);
    }
    // The peer sends a pair request.
    void request_pairing(std::uint64_t attempt) {
        request_pairing(attempt, worker_paired, address());
    }
    void request_pairing(std::uint64_t attempt, std::span<const std::byte> to,
                         const std::vector<std::byte>& own) {
        const std::vector<std::byte> from = paired.address();
        const std::vector<std::byte> connection = paired.connection();
        peer.send(wire::wireup, peer.about(type::pair, attempt, 0),
                  ucp::wireup::pack(
                      ucp::wireup::pair_request{{{"simrc", to, from, connection, 0}}, own}));
        settle();
    }
    // The peer connects its lane when its request got a reply, and confirms with `joined`.
    void join(std::uint64_t attempt) {
        const std::vector<std::byte>& bytes = peer.last_received();
        wireup_header reply;
        REQUIRE(bytes.size() > sizeof reply);
        std::memcpy(&reply, bytes.data(), sizeof reply);
        REQUIRE(reply.type == type::paired);
        const auto lanes = ucp::wireup::parse_pair_reply(std::span(bytes).subspan(sizeof reply));
        REQUIRE(lanes);
        paired.connect_to(lanes->front().connection);
        let_connect();
        paired.send(peer.about(type::joined, attempt, 0), {});
        settle();
    }
    // The peer declines paired lanes: sends a pair request without lanes.
    void decline_pairs(std::uint64_t last_attempt) {
        const std::vector<std::byte> own = address();
        peer.send(wire::wireup, peer.about(type::pair, last_attempt, 0),
                  ucp::wireup::pack(ucp::wireup::pair_request{{}, own}));
        settle();
    }
    // The peer sends a connection request, over lanes without or with a pair.
    void request(std::uint64_t ep) {
        peer.send(wire::wireup, peer.about(type::request, ep, 0), address());
        settle();
    }
    void request_over_pair(std::uint64_t ep) {
        paired.send(peer.about(over_pair(type::request), ep, 0), address());
        settle();
    }
    // The peer sends `unpaired`: it has no lanes of that attempt.
    void leave(std::uint64_t attempt) {
        peer.send(wire::wireup,
                  peer.about(type::unpaired, attempt,
                             static_cast<std::uint64_t>(wire::unpaired_reason::cannot)));
        settle();
    }
    // Makes an endpoint of the worker to the peer.
    [[nodiscard]] ucp::ep& make_ep() {
        return **ucp::wireup::create_ep(*worker, address().data(), {});
    }
    // Returns the attempt of the worker's pair request, the last message that the peer has
    // received.
    [[nodiscard]] std::uint64_t requested_attempt() const {
        const wireup_header last = received().back();
        REQUIRE(last.type == type::pair);
        return last.ep;
    }
    // The peer replies to that request, names its device, and receives `joined` from the worker.
    void reply_to_pairing(std::uint8_t device = 0) {
        const std::uint64_t attempt = requested_attempt();
        const std::vector<std::byte> bytes = peer.last_received();
        const auto request =
            ucp::wireup::parse_pair_request(std::span(bytes).subspan(sizeof(wireup_header)));
        REQUIRE(request);
        paired.connect_to(request->lanes.front().connection);
        const std::vector<std::byte> ours = paired.connection();
        peer.send(wire::wireup, peer.about(type::paired, attempt, 0),
                  ucp::wireup::pack(ucp::wireup::pair_reply{{ours, device}}));
        settle();
        REQUIRE(std::ranges::any_of(paired.received(), [attempt](const wireup_header& each) {
            return each.type == type::joined && each.ep == attempt;
        }));
    }
    // The messages that arrived over the lane without pairs.
    [[nodiscard]] std::vector<wireup_header> received() const { return peer.connection_messages(); }
    [[nodiscard]] std::size_t count(type which) const {
        const auto all = received();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [which](const auto& each) { return each.type == which; }));
    }

    // Makes a worker with a higher uid than the peer, so that the peer's request counts.
    [[nodiscard]] std::unique_ptr<ucp::worker> make_worker_above(std::uint64_t uid) const {
        std::unique_ptr<ucp::worker> made;
        do {
            made = std::move(*ucp::worker::create(*context, {}));
        } while (made->uid() < uid);
        return made;
    }

    const test::seeded_identities identities{3};
    uct::sim::fabric network;
    const uct::sim::sim_component by_address{network};
    const uct::sim::paired_component in_pairs{network};
    // Memory is accessed by keys, if possible.
    std::unique_ptr<ucp::context> context =
        make_context({&by_address, &in_pairs}, {{"RNDV_SCHEME", "get_zcopy"}});
    raw_peer peer{network};
    std::unique_ptr<ucp::worker> worker = make_worker_above(peer.uid());
    raw_paired_iface paired{network, peer};
    std::vector<std::byte> worker_paired;
    uct::sim::driver driver{network};
};

}  // namespace

TEST_CASE("given up: a message from before the paired lanes does not end them") {
    // Regression: the message had been overtaken by a later pair request. One side gave up lanes on
    // which the other side was ready already, and that side's endpoint waited for ever.
    constexpr std::uint64_t given_up = 70;
    constexpr std::uint64_t agreed = 71;
    const bool joins_before = GENERATE(false, true);
    CAPTURE(joins_before);
    world in;
    in.request_pairing(agreed);
    if (!joins_before) {
        in.decline_pairs(given_up);
        in.join(agreed);
    } else {
        in.join(agreed);
        in.decline_pairs(given_up);
    }
    in.request_over_pair(5);
    REQUIRE(in.paired.received().size() == 1);
    CHECK(in.paired.received()[0].type == over_pair(type::reply));
    CHECK(in.paired.received()[0].peer_ep_or_number == 5);
}

TEST_CASE("given up: a peer that declines paired lanes gets its reply without them") {
    constexpr std::uint64_t attempt = 71;
    const bool joins_before = GENERATE(false, true);
    CAPTURE(joins_before);
    world in;
    in.request_pairing(attempt);
    if (joins_before) in.join(attempt);
    in.decline_pairs(attempt);
    in.request(5);
    CHECK(in.count(type::reply) == 1);
}

TEST_CASE("given up: a requester that comes without paired lanes gets the pair reply again") {
    // Regression: the peer's final message was lost on a dead path. Its next requests were dropped
    // until the unused lanes were given up, after minutes or never.
    constexpr std::uint64_t attempt = 71;
    world in;
    in.request_pairing(attempt);
    REQUIRE(in.count(type::paired) == 1);
    in.request(5);
    REQUIRE(in.count(type::paired) == 2);
    CHECK(in.received().back().ep == attempt);
    CHECK(in.count(type::reply) == 0);
    in.peer.send(wire::wireup,
                 in.peer.about(type::unpaired, attempt,
                               static_cast<std::uint64_t>(wire::unpaired_reason::cannot)));
    in.request(5);
    CHECK(in.count(type::reply) == 1);
}

TEST_CASE("given up: a requester that still wants paired lanes continues") {
    constexpr std::uint64_t attempt = 71;
    world in;
    in.request_pairing(attempt);
    in.request(4);
    in.join(attempt);
    in.request_over_pair(5);
    REQUIRE(in.paired.received().size() == 1);
    CHECK(in.paired.received()[0].peer_ep_or_number == 5);
}

TEST_CASE(
    "given up: messages that paired lanes made us drop are requested again when these are over") {
    // The peer had left the lanes already and could not make others: its next request came before
    // its final message.
    constexpr std::uint64_t attempt = 71;
    world in;
    in.request_pairing(attempt);
    in.join(attempt);
    in.request_over_pair(5);
    REQUIRE(in.paired.received().size() == 1);
    in.request(6);
    REQUIRE(in.count(type::reply) == 0);
    in.paired.send(in.peer.about(type::close, 5, in.paired.received()[0].ep), {});
    in.settle();
    REQUIRE(in.received().back().type == type::pair);
    CHECK(in.received().back().ep == attempt);
    in.request(6);
    CHECK(in.count(type::reply) == 1);
}

TEST_CASE("given up: a responder whose paired lanes fail declines them") {
    // Regression: the reply may never have left. The requester waited for it for ever, and dropped
    // messages over other lanes.
    constexpr std::uint64_t attempt = 71;
    const bool had_asked = GENERATE(false, true);
    CAPTURE(had_asked);
    world in;
    ucp::ep& ours = in.make_ep();
    if (had_asked) ucp::wireup::handle(ours, ucp::wireup::event::use);
    in.settle();
    in.request_pairing(attempt);
    REQUIRE(in.count(type::paired) == 1);
    in.network.fail_after(*in.network.find_node(in.worker->uid(), 1),
                          *in.network.find_node(in.peer.uid(), 1), 0);
    in.settle();
    auto all = in.received();
    if (had_asked) {
        CHECK(all.back().type == type::request);
        all.pop_back();
    }
    CHECK(all.back().type == type::pair);
    CHECK(all.back().ep == attempt);
}

TEST_CASE("given up: a requester that never heard from the peer notifies it when it closes") {
    // The path was dead: neither `joined` nor the final message arrived.
    world in;
    ucp::ep& asking = in.make_ep();
    REQUIRE(ucp::slot_of<ucp::wireup::lane_setup>(asking.remote()).connect() == UCS_OK);
    in.settle();
    const std::uint64_t attempt = in.requested_attempt();
    in.reply_to_pairing();
    ucp::wireup::handle(asking, ucp::wireup::event::local_close);
    in.settle();
    CHECK(in.received().back().type == type::unpaired);
    CHECK(in.received().back().ep == attempt);
}

TEST_CASE("given up: a worker with a request over lanes without pairs refuses paired lanes") {
    // The peer accepts the request that it receives, and is ready over the lanes of that time.
    constexpr std::uint64_t late = 71;
    world in;
    in.use(in.make_ep());
    in.leave(in.requested_attempt());
    REQUIRE(in.count(type::request) == 1);
    in.request_pairing(late);
    CHECK(in.count(type::paired) == 0);
    CHECK(in.received().back().type == type::unpaired);
    CHECK(in.received().back().ep == late);
}

TEST_CASE("given up: a requester repeats its pair request when older lanes are over") {
    // Our pair request may have been dropped in favour of the peer's, which has left since.
    const bool by_failure = GENERATE(false, true);
    CAPTURE(by_failure);
    constexpr std::uint64_t older = 70;
    world in;
    in.use(in.make_ep());
    const std::uint64_t attempt = in.requested_attempt();
    if (by_failure) {
        in.leave(older);
    } else {
        in.decline_pairs(older);
    }
    CHECK(in.count(type::pair) == 2);
    CHECK(in.requested_attempt() == attempt);
}

TEST_CASE("given up: after a refusal of paired lanes endpoints connect over other lanes") {
    // Regression: the new peer object remained one that only refuses, so its endpoints waited for
    // ever. If the next lanes were paired as well, the refusal that waited for room was lost.
    constexpr std::uint64_t attempt = 71;
    constexpr std::uint64_t impossible = 72;
    const bool offers_pairs = GENERATE(false, true);
    CAPTURE(offers_pairs);
    world in({.max_connect_time = 10'000});
    const std::vector<std::byte> own = offers_pairs ? in.address() : in.peer.address();
    in.request_pairing(attempt, in.worker_paired, own);
    in.join(attempt);
    in.use(in.make_ep());
    REQUIRE(in.paired.received().size() == 1);
    in.request_pairing(impossible, std::vector<std::byte>(in.worker_paired.size()), own);
    in.network.fail_after(*in.network.find_node(in.worker->uid(), 1),
                          *in.network.find_node(in.peer.uid(), 1), 0);
    in.settle();
    const auto all = in.received();
    CHECK(std::any_of(all.begin(), all.end(), [](const wireup_header& each) {
        return each.type == type::unpaired && each.ep == impossible;
    }));
    CHECK(in.count(type::request) == (offers_pairs ? 0 : 1));
    CHECK(in.count(type::pair) == 1);
}

TEST_CASE("given up: unused paired lanes make room for those of other peers") {
    constexpr std::uint64_t attempt = 71;
    const bool joins_before = GENERATE(false, true);
    CAPTURE(joins_before);
    world in;
    in.worker->limits().uninvited().set_limits({.most = 1});
    in.request_pairing(attempt);
    REQUIRE(in.count(type::paired) == 1);
    if (joins_before) in.join(attempt);
    CHECK(in.worker->limits().uninvited().size() == 1);
    CHECK(in.worker->peers().size() == 1);

    raw_peer newcomer(in.network, *in.worker);
    in.driver.add([&newcomer] { return newcomer.progress(); });
    newcomer.send(type::request, 5, 0);
    in.settle();
    const auto answers = newcomer.connection_messages(1);
    CHECK(answers[0].type == type::reply);
    // Joined lanes notify the peer by themselves.
    CHECK(in.count(type::unpaired) == (joins_before ? 0 : 1));
    CHECK(in.worker->limits().uninvited().size() == 1);
    CHECK(in.worker->peers().size() == 1);
    CHECK(in.worker->endpoints().find(answers[0].ep) != nullptr);
}

TEST_CASE("given up: paired lanes count once, and not when the program uses the peer") {
    world in;
    in.worker->limits().uninvited().set_limits({.most = 10});
    in.request_pairing(71);
    REQUIRE(in.count(type::paired) == 1);
    CHECK(in.worker->limits().uninvited().size() == 1);
    in.join(71);
    in.request_over_pair(5);
    CHECK(in.worker->limits().uninvited().size() == 1);
    CHECK(ucp::wireup::state_of(in.make_ep()) == ucp::wireup::state::ready);
    CHECK(in.worker->limits().uninvited().size() == 0);
}

TEST_CASE("given up: a message is not read by keys of lanes that were given up") {
    uct::sim::parameters
        messages;  // the transport by address carries messages only; paired lanes access memory
    messages.ops = {static_cast<std::uint32_t>(uct::op::am_short) |
                    static_cast<std::uint32_t>(uct::op::am_bcopy)};
    world in(messages);
    ucp::ep& asking = in.make_ep();
    in.use(asking);
    in.reply_to_pairing(1);
    REQUIRE(ucp::wireup::state_of(asking) == ucp::wireup::state::requested);
    const std::vector<std::byte> data(1U << 20);
    const std::uint64_t key[] = {reinterpret_cast<std::uint64_t>(data.data()), data.size(),
                                 std::uint64_t{1} << 32U | 5};  // version 1
    std::vector<std::byte> keys(2 + sizeof key);
    keys[0] = std::byte{1};
    keys[1] = std::byte{sizeof key};
    std::memcpy(keys.data() + 2, key, sizeof key);
    in.paired.send_rts(rts_of(data, asking.id()), keys);
    in.settle();
    in.paired.leave();
    in.settle();
    REQUIRE(slot_of<ucp::unexpected_rts_messages>(asking).list.size() == 1);
    in.paired.reach(in.worker_paired);
    in.let_connect();
    in.reply_to_pairing(2);
    REQUIRE(asking.remote().lanes().rail_count() == 1);
    in.paired.send(in.peer.about(over_pair(type::reply), 88, asking.id()), in.address());
    in.settle();
    REQUIRE(ucp::wireup::state_of(asking) == ucp::wireup::state::ready);
    std::vector<std::byte> into(data.size());
    const ucp_request_param_t param{};
    void* const posted =
        ucp_tag_recv_nbx(ucp::capi::handle(*in.worker), into.data(), into.size(), 0, 0, &param);
    REQUIRE(UCS_PTR_IS_PTR(posted));
    in.settle();
    CHECK(in.paired.data_requests() == 1);
    ucp_request_cancel(ucp::capi::handle(*in.worker), posted);
    ucp_request_free(posted);
}
