// What one side says while the other one still has lanes in pairs that it has given up, or has such
// lanes that it has not heard of.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "test/support/identities.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/address/address.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "uct/sim/paired_component.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using type = wire::wireup_type;
using wire::wireup_header;

type over_pair(type plain) {
    return static_cast<type>(static_cast<std::uint8_t>(plain) | wire::over_pair);
}

std::unique_ptr<ucp::context> make_context(const uct::component& by_address,
                                           const uct::component& in_pairs) {
    ucs::config::source source = ucs::config::source::empty();
    source.set("HOST_PROBE", "n");
    source.set("RNDV_SCHEME", "get_zcopy");  // by keys, if any way
    ucp::context_params params;
    params.features = UCP_FEATURE_TAG;
    const uct::component* list[] = {&by_address, &in_pairs};
    return std::move(*ucp::context::create(params, std::move(source), list));
}

// The raw peer's half of lanes in pairs: it takes what comes over it.
class raw_half {
public:
    raw_half(uct::sim::fabric& network, const raw_peer& whole)
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
                                        auto& self = *static_cast<raw_half*>(arg);
                                        wireup_header header;
                                        std::memcpy(&header, data, sizeof header);
                                        self.heard_.push_back(self.whole_.unmasked(header));
                                    },
                                .arg = this});
        iface_->set_am_handler(
            wire::rndv_rtr,
            {.deliver = [](void* arg, void*,
                           std::size_t) { ++static_cast<raw_half*>(arg)->data_requests_; },
             .arg = this});
    }
    // Makes the endpoint to the worker.
    void reach(std::span<const std::byte> iface_address) {
        ep_ = std::move(*iface_->create_ep(iface_address));
    }
    void connect_to(std::span<const std::byte> theirs) {
        REQUIRE(ep_->connect_to(theirs) == UCS_OK);
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
    void send(const wireup_header& what, const std::vector<std::byte>& body) {
        const wireup_header sealed = whole_.sealed(what, body);
        send_raw(*ep_, wire::wireup, &sealed, sizeof sealed, body);
    }
    void announce(const wire::rts_header& what, const std::vector<std::byte>& keys) {
        send_raw(*ep_, wire::rndv_rts, &what, sizeof what, keys);
    }
    void leave() { ep_.reset(); }
    unsigned progress() { return iface_->progress(); }
    [[nodiscard]] const std::vector<wireup_header>& heard() const noexcept { return heard_; }
    [[nodiscard]] unsigned data_requests() const noexcept { return data_requests_; }

private:
    const raw_peer& whole_;
    uct::sim::paired_component component_;
    std::unique_ptr<ucs::async::event_loop> events_;
    ucs::config::source config_;
    std::unique_ptr<uct::iface> iface_;
    std::unique_ptr<uct::ep> ep_;
    std::vector<wireup_header> heard_;
    unsigned data_requests_ = 0;
};

// A worker with both transports, and a peer of both that the test plays.
struct world {
    explicit world(const uct::sim::parameters& how = {}) : network(1, how) {
        driver.add([this] { return worker->progress(); });
        driver.add([this] { return peer.progress(); });
        driver.add([this] { return half.progress(); });
        peer.reach(*worker);
        const auto all = ucp::address::parse(std::span<const std::byte>(worker->address(false)));
        REQUIRE(all);
        const auto paired =
            std::find_if(all->entries.begin(), all->entries.end(),
                         [](const auto& each) { return each.transport == "simrc"; });
        REQUIRE(paired != all->entries.end());
        worker_half = paired->iface_address;
        half.reach(worker_half);
        let_connect();
    }

    void settle() { REQUIRE(driver.run_until_quiet()); }
    // What the test plays sends no sooner than it may.
    void let_connect() { network.advance(network.network().max_connect_time); }

    // Of the peer with both transports.
    [[nodiscard]] std::vector<std::byte> address() const {
        ucp::address::worker_address all =
            *ucp::address::parse(std::span<const std::byte>(peer.address()));
        all.entries.push_back(
            {"simrc", "rnode", uct::scope::network, 1e-7F, 1e10F, 0, half.address()});
        return ucp::address::pack(all, false);
    }
    [[nodiscard]] wireup_header about(type what, std::uint64_t ep, std::uint64_t last) const {
        return {what, {}, peer.uid(), worker->uid(), ep, last};
    }
    // The peer asks for lanes in pairs.
    void ask(std::uint64_t attempt) { ask(attempt, worker_half, address()); }
    void ask(std::uint64_t attempt, std::span<const std::byte> to,
             const std::vector<std::byte>& own) {
        const std::vector<std::byte> from = half.address();
        const std::vector<std::byte> connection = half.connection();
        peer.send(wire::wireup, about(type::pair, attempt, 0),
                  ucp::wireup::pack(
                      ucp::wireup::pair_question{{{"simrc", to, from, connection, 0}}, own}));
        settle();
    }
    // The peer connects its half, as soon as its question is answered, and tells so.
    void join(std::uint64_t attempt) {
        const std::vector<std::byte>& bytes = peer.last_received();
        wireup_header answer;
        REQUIRE(bytes.size() > sizeof answer);
        std::memcpy(&answer, bytes.data(), sizeof answer);
        REQUIRE(answer.type == type::paired);
        const auto theirs = ucp::wireup::parse_answer(std::span(bytes).subspan(sizeof answer));
        REQUIRE(theirs);
        half.connect_to(theirs->front().connection);
        let_connect();
        half.send(about(type::joined, attempt, 0), {});
        settle();
    }
    // The peer says that it does without.
    void do_without(std::uint64_t last_attempt) {
        const std::vector<std::byte> own = address();
        peer.send(wire::wireup, about(type::pair, last_attempt, 0),
                  ucp::wireup::pack(ucp::wireup::pair_question{{}, own}));
        settle();
    }
    // The peer asks for an endpoint of the worker, over lanes without or with a pair.
    void request(std::uint64_t ep) {
        peer.send(wire::wireup, about(type::request, ep, 0), address());
        settle();
    }
    void request_over_pair(std::uint64_t ep) {
        half.send(about(over_pair(type::request), ep, 0), address());
        settle();
    }
    // The peer has no lanes of that attempt, or no more.
    void leave(std::uint64_t attempt) {
        peer.send(wire::wireup, about(type::unpaired, attempt,
                                      static_cast<std::uint64_t>(wire::unpaired_reason::cannot)));
        settle();
    }
    // The worker's, to the peer.
    [[nodiscard]] ucp::ep& make_ep() { return **worker->create_ep(address().data(), {}); }
    // The worker's question, which is the last word that the peer has heard.
    [[nodiscard]] std::uint64_t question() const {
        const wireup_header last = heard().back();
        REQUIRE(last.type == type::pair);
        return last.ep;
    }
    // The peer answers it, says which of its devices that is, and hears that the worker has joined
    // the lanes.
    void answer(std::uint8_t device = 0) {
        const std::uint64_t attempt = question();
        const std::vector<std::byte> bytes = peer.last_received();
        const auto asked =
            ucp::wireup::parse_question(std::span(bytes).subspan(sizeof(wireup_header)));
        REQUIRE(asked);
        half.connect_to(asked->lanes.front().connection);
        const std::vector<std::byte> ours = half.connection();
        peer.send(wire::wireup, about(type::paired, attempt, 0),
                  ucp::wireup::pack(ucp::wireup::pair_answer{{ours, device}}));
        settle();
        REQUIRE(std::ranges::any_of(half.heard(), [attempt](const wireup_header& each) {
            return each.type == type::joined && each.ep == attempt;
        }));
    }
    // What came over the lane that needs no pairs.
    [[nodiscard]] std::vector<wireup_header> heard() const {
        return peer.received<wireup_header>(wire::wireup);
    }
    [[nodiscard]] std::size_t count(type which) const {
        const auto all = heard();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [which](const auto& each) { return each.type == which; }));
    }

    // A worker with a higher uid than the peer, so that the peer's question counts.
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
    std::unique_ptr<ucp::context> context = make_context(by_address, in_pairs);
    raw_peer peer{network};
    std::unique_ptr<ucp::worker> worker = make_worker_above(peer.uid());
    raw_half half{network, peer};
    std::vector<std::byte> worker_half;
    uct::sim::driver driver{network};
};

}  // namespace

TEST_CASE("given up: a word from before the lanes in pairs does not end them") {
    // It had been overtaken by the question that came after it: one side gave up its half of lanes
    // that the other one was ready on already, and its endpoint waited for ever.
    constexpr std::uint64_t given_up = 70;
    constexpr std::uint64_t agreed = 71;
    const bool joins_before = GENERATE(false, true);
    CAPTURE(joins_before);
    world in;
    in.ask(agreed);
    if (!joins_before) {
        in.do_without(given_up);
        in.join(agreed);
    } else {
        in.join(agreed);
        in.do_without(given_up);
    }
    in.request_over_pair(5);
    REQUIRE(in.half.heard().size() == 1);
    CHECK(in.half.heard()[0].type == over_pair(type::reply));
    CHECK(in.half.heard()[0].peer_ep_or_number == 5);
}

TEST_CASE("given up: whoever does without lanes in pairs is answered without") {
    constexpr std::uint64_t attempt = 71;
    const bool joins_before = GENERATE(false, true);
    CAPTURE(joins_before);
    world in;
    in.ask(attempt);
    if (joins_before) in.join(attempt);
    in.do_without(attempt);
    in.request(5);
    CHECK(in.count(type::reply) == 1);
}

TEST_CASE("given up: who asked for pairs and comes without is asked whether it still wants them") {
    // Its goodbye had gone over a path that carries nothing, so that its next requests were dropped
    // until the half that nobody wanted was given up, after minutes or never.
    constexpr std::uint64_t attempt = 71;
    world in;
    in.ask(attempt);
    REQUIRE(in.count(type::paired) == 1);
    in.request(5);
    REQUIRE(in.count(type::paired) == 2);
    CHECK(in.heard().back().ep == attempt);
    CHECK(in.count(type::reply) == 0);
    in.peer.send(wire::wireup, in.about(type::unpaired, attempt,
                                        static_cast<std::uint64_t>(wire::unpaired_reason::cannot)));
    in.request(5);
    CHECK(in.count(type::reply) == 1);
}

TEST_CASE("given up: who asked for pairs and still wants them goes on") {
    constexpr std::uint64_t attempt = 71;
    world in;
    in.ask(attempt);
    in.request(4);
    in.join(attempt);
    in.request_over_pair(5);
    REQUIRE(in.half.heard().size() == 1);
    CHECK(in.half.heard()[0].peer_ep_or_number == 5);
}

TEST_CASE("given up: what was dropped while lanes in pairs stood is asked for when they are over") {
    // The peer had left them already, and could not make others: its next request came before its
    // goodbye.
    constexpr std::uint64_t attempt = 71;
    world in;
    in.ask(attempt);
    in.join(attempt);
    in.request_over_pair(5);
    REQUIRE(in.half.heard().size() == 1);
    in.request(6);
    REQUIRE(in.count(type::reply) == 0);
    in.half.send(in.about(type::close, 5, in.half.heard()[0].ep), {});
    in.settle();
    REQUIRE(in.heard().back().type == type::pair);
    CHECK(in.heard().back().ep == attempt);
    in.request(6);
    CHECK(in.count(type::reply) == 1);
}

TEST_CASE("given up: who answered says that it does without, when its half fails") {
    // The answer may never have left: the asker waited for it for ever, and dropped what came over
    // other lanes.
    constexpr std::uint64_t attempt = 71;
    const bool had_asked = GENERATE(false, true);
    CAPTURE(had_asked);
    world in;
    ucp::ep& ours = in.make_ep();
    if (had_asked) ours.handle(ucp::wireup::event::use);
    in.settle();
    in.ask(attempt);
    REQUIRE(in.count(type::paired) == 1);
    in.network.fail_after(*in.network.find_node(in.worker->uid(), 1),
                          *in.network.find_node(in.peer.uid(), 1), 0);
    in.settle();
    auto all = in.heard();
    if (had_asked) {
        CHECK(all.back().type == type::request);
        all.pop_back();
    }
    CHECK(all.back().type == type::pair);
    CHECK(all.back().ep == attempt);
}

TEST_CASE("given up: who asked and has never heard of its partner says that it goes") {
    // Its path carried nothing, neither that it had joined the lanes nor its goodbye.
    world in;
    ucp::ep& asking = in.make_ep();
    REQUIRE(asking.remote().connect() == UCS_OK);
    in.settle();
    const std::uint64_t attempt = in.question();
    in.answer();
    asking.handle(ucp::wireup::event::local_close);
    in.settle();
    CHECK(in.heard().back().type == type::unpaired);
    CHECK(in.heard().back().ep == attempt);
}

TEST_CASE("given up: who has asked for a connection without lanes in pairs is asked for none") {
    // The peer accepts what it hears, and is ready over the lanes that there were.
    constexpr std::uint64_t late = 71;
    world in;
    in.make_ep().handle(ucp::wireup::event::use);
    in.settle();
    in.leave(in.question());
    REQUIRE(in.count(type::request) == 1);
    in.ask(late);
    CHECK(in.count(type::paired) == 0);
    CHECK(in.heard().back().type == type::unpaired);
    CHECK(in.heard().back().ep == late);
}

TEST_CASE("given up: who asks hears that older lanes are over, and asks again") {
    // Its question may have been put aside for that of the other side, which has left since.
    const bool by_failure = GENERATE(false, true);
    CAPTURE(by_failure);
    constexpr std::uint64_t older = 70;
    world in;
    in.make_ep().handle(ucp::wireup::event::use);
    in.settle();
    const std::uint64_t attempt = in.question();
    if (by_failure) {
        in.leave(older);
    } else {
        in.do_without(older);
    }
    CHECK(in.count(type::pair) == 2);
    CHECK(in.question() == attempt);
}

TEST_CASE("given up: who refuses new lanes when the old ones fail connects over others") {
    // The new peer went on as one that only refuses: its endpoints waited for ever. Where the next
    // lanes come in pairs, too, the refusal that waited for room was lost.
    constexpr std::uint64_t attempt = 71;
    constexpr std::uint64_t impossible = 72;
    const bool offers_pairs = GENERATE(false, true);
    CAPTURE(offers_pairs);
    uct::sim::parameters slow;
    slow.max_connect_time = 10'000;
    world in(slow);
    const std::vector<std::byte> own = offers_pairs ? in.address() : in.peer.address();
    in.ask(attempt, in.worker_half, own);
    in.join(attempt);
    in.make_ep().handle(ucp::wireup::event::use);
    in.settle();
    REQUIRE(in.half.heard().size() == 1);
    in.ask(impossible, std::vector<std::byte>(in.worker_half.size()), own);
    in.network.fail_after(*in.network.find_node(in.worker->uid(), 1),
                          *in.network.find_node(in.peer.uid(), 1), 0);
    in.settle();
    const auto all = in.heard();
    CHECK(std::any_of(all.begin(), all.end(), [](const wireup_header& each) {
        return each.type == type::unpaired && each.ep == impossible;
    }));
    CHECK(in.count(type::request) == (offers_pairs ? 0 : 1));
    CHECK(in.count(type::pair) == 1);
}

TEST_CASE("given up: lanes in pairs that nobody here wants make room for those of others") {
    constexpr std::uint64_t attempt = 71;
    const bool joins_before = GENERATE(false, true);
    CAPTURE(joins_before);
    world in;
    in.worker->uninvited().set_limits({.most = 1});
    in.ask(attempt);
    REQUIRE(in.count(type::paired) == 1);
    if (joins_before) in.join(attempt);
    CHECK(in.worker->uninvited().size() == 1);
    CHECK(in.worker->peer_count() == 1);

    raw_peer newcomer(in.network);
    in.driver.add([&newcomer] { return newcomer.progress(); });
    newcomer.reach(*in.worker);
    newcomer.send(wire::wireup,
                  wireup_header{type::request, {}, newcomer.uid(), in.worker->uid(), 5, 0},
                  newcomer.address());
    in.settle();
    const auto answers = newcomer.received<wireup_header>(wire::wireup);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].type == type::reply);
    // Joined lanes tell the peer themselves.
    CHECK(in.count(type::unpaired) == (joins_before ? 0 : 1));
    CHECK(in.worker->uninvited().size() == 1);
    CHECK(in.worker->peer_count() == 1);
    CHECK(in.worker->find_ep(answers[0].ep) != nullptr);
}

TEST_CASE("given up: lanes in pairs count once, and not when the program wants the peer") {
    world in;
    in.worker->uninvited().set_limits({.most = 10});
    in.ask(71);
    REQUIRE(in.count(type::paired) == 1);
    CHECK(in.worker->uninvited().size() == 1);
    in.join(71);
    in.request_over_pair(5);
    CHECK(in.worker->uninvited().size() == 1);
    CHECK(in.make_ep().connection() == ucp::wireup::state::ready);
    CHECK(in.worker->uninvited().size() == 0);
}

TEST_CASE("given up: a message is not read by keys of lanes that were given up") {
    uct::sim::parameters messages;  // by address; only lanes in pairs reach memory
    messages.ops = {static_cast<std::uint32_t>(uct::op::am_short) |
                    static_cast<std::uint32_t>(uct::op::am_bcopy)};
    world in(messages);
    ucp::ep& asking = in.make_ep();
    asking.handle(ucp::wireup::event::use);
    in.settle();
    in.answer(1);
    REQUIRE(asking.connection() == ucp::wireup::state::requested);
    const std::vector<std::byte> data(1U << 20);
    const std::uint64_t key[] = {reinterpret_cast<std::uint64_t>(data.data()), data.size(),
                                 std::uint64_t{1} << 32U | 5};  // version 1
    std::vector<std::byte> lent(2 + sizeof key);
    lent[0] = std::byte{1};
    lent[1] = std::byte{sizeof key};
    std::memcpy(lent.data() + 2, key, sizeof key);
    in.half.announce(rts_of(data, asking.id()), lent);
    in.settle();
    in.half.leave();
    in.settle();
    REQUIRE(asking.announced.size() == 1);
    in.half.reach(in.worker_half);
    in.let_connect();
    in.answer(2);
    REQUIRE(asking.remote().rail_count() == 1);
    in.half.send(in.about(over_pair(type::reply), 88, asking.id()), in.address());
    in.settle();
    REQUIRE(asking.connection() == ucp::wireup::state::ready);
    std::vector<std::byte> into(data.size());
    const ucp_request_param_t param{};
    void* const posted =
        ucp_tag_recv_nbx(ucp::capi::handle(*in.worker), into.data(), into.size(), 0, 0, &param);
    REQUIRE(UCS_PTR_IS_PTR(posted));
    in.settle();
    CHECK(in.half.data_requests() == 1);
    ucp_request_cancel(ucp::capi::handle(*in.worker), posted);
    ucp_request_free(posted);
}
