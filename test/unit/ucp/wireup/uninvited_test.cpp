// Tests of endpoints that requests of peers make and the program does not ask for.
#include "ucp/core/uninvited.hpp"

#include <catch2/catch.hpp>
#include <list>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/wireup/connection.hpp"

namespace {

using namespace ucp_test;
using namespace ucp;
using namespace ucp::wire;

constexpr std::size_t most = uninvited_limits{}.most_of_one;

// A peer that requests one endpoint after the other.
class asker {
public:
    asker(raw_world& in, raw_peer& peer) : in_(in), peer_(peer) {}

    // Sends a request and returns the worker's reply.
    wireup_header ask() {
        ++asked_;
        const std::uint64_t number = asks_apart
                                         ? ucp::peer_endpoints::first_apart_number + 2 * asked_
                                         : std::uint64_t{asked_};
        peer_.send(wireup_type::request, asked_ + 100, number);
        in_.settle();
        for (const wireup_header& each : received_messages())
            if (each.peer_ep_or_number == asked_ + 100) return each;
        FAIL("no answer");
        return {};
    }
    // Returns whether the endpoint of the n-th request, from 1, has failed because there were too
    // many.
    [[nodiscard]] bool was_ended(std::size_t n) const {
        for (const wireup_header& each : received_messages())
            if (each.type == wireup_type::failed && each.peer_ep_or_number == n + 100)
                return each.reason() == end_reason::too_many;
        return false;
    }
    [[nodiscard]] std::vector<wireup_header> received_messages() const {
        return peer_.connection_messages();
    }
    bool asks_apart = false;

private:
    raw_world& in_;
    raw_peer& peer_;
    std::size_t asked_ = 0;
};

// A worker, and further peers that it does not know.
struct asking_world : raw_world {
    explicit asking_world(std::size_t most_of_all = 1 << 20) : raw_world({}), first(*this, peer) {
        worker->limits().uninvited().set_limits({.most = most_of_all});
    }
    asker& newcomer() {
        raw_peer& fresh = peers_.emplace_back(network, *worker);
        drive([&fresh] { return fresh.progress(); });
        return askers_.emplace_back(*this, fresh);
    }
    asker first;

private:
    std::list<raw_peer> peers_;
    std::list<asker> askers_;
};

}  // namespace

TEST_CASE("a peer makes a bounded number of uninvited endpoints") {
    asking_world in;
    in.first.asks_apart = GENERATE(false, true);
    const test::log_capture log;
    const std::size_t before = in.worker->endpoints().size();
    for (std::size_t i = 0; i < most; ++i)
        REQUIRE(in.first.ask().type == wireup_type::reply);
    CHECK(in.worker->endpoints().size() == before + most);
    const wireup_header refused = in.first.ask();
    CHECK(refused.type == wireup_type::refuse);
    CHECK(refused.reason() == end_reason::too_many);
    CHECK(in.worker->endpoints().size() == before + most);
    CHECK(log.count("exceeds the limit of endpoints") == 1);
    if (in.first.asks_apart) return;
    // The program adopts one of them.
    CHECK(in.make_ep() != nullptr);
    CHECK(in.worker->endpoints().size() == before + most);
    CHECK(in.first.ask().type == wireup_type::reply);
    CHECK(in.first.ask().type == wireup_type::refuse);
}

TEST_CASE("uninvited endpoints of all peers are bounded by memory") {
    constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;
    CHECK(uninvited_limits::most_in(2 * gigabyte) == 131'072);
    CHECK(uninvited_limits::most_in(64 * gigabyte) == 4'194'304);
    CHECK(uninvited_limits::most_in(0) == most);
}

TEST_CASE("a new peer is accepted when the limit of uninvited endpoints is reached") {
    asking_world in(3);
    const test::log_capture log;
    std::vector<asker*> peers;
    for (int i = 0; i < 3; ++i) {
        peers.push_back(&in.newcomer());
        REQUIRE(peers.back()->ask().type == wireup_type::reply);
    }
    const std::size_t endpoints = in.worker->endpoints().size();
    const std::size_t known = in.worker->peers().size();
    CHECK(log.count("the program has not asked for") == 0);

    for (std::size_t i = 0; i < 3; ++i) {
        CHECK_FALSE(peers[i]->was_ended(1));
        CHECK(in.newcomer().ask().type == wireup_type::reply);
        CHECK(peers[i]->was_ended(1));
        CHECK(in.worker->endpoints().size() == endpoints);
        CHECK(in.worker->peers().size() == known);
    }
    CHECK(log.count("which is the limit") == 3);
}

TEST_CASE("the peer that has most endpoints gives one up for a new peer") {
    asking_world in(10);
    asker& alone = in.newcomer();
    REQUIRE(alone.ask().type == wireup_type::reply);
    for (int i = 0; i < 9; ++i)
        REQUIRE(in.first.ask().type == wireup_type::reply);
    for (std::size_t i = 1; i <= 3; ++i) {
        CHECK(in.newcomer().ask().type == wireup_type::reply);
        CHECK(in.first.was_ended(i));
        CHECK_FALSE(in.first.was_ended(i + 1));
    }
    CHECK_FALSE(alone.was_ended(1));
    // An endpoint that the program has asked for is never ended.
    for (int i = 0; i < 20; ++i)
        CHECK(in.newcomer().ask().type == wireup_type::reply);
    CHECK(ucp::wireup::state_of(in.ep()) == ucp::wireup::state::ready);
    CHECK(in.worker->limits().uninvited().size() == 10);
}

TEST_CASE("an endpoint that the program has adopted is not counted") {
    asking_world in(1);
    REQUIRE(in.first.ask().type == wireup_type::reply);
    CHECK(in.worker->limits().uninvited().size() == 1);
    CHECK(in.make_ep() != nullptr);
    CHECK(in.worker->limits().uninvited().size() == 0);
    CHECK(in.newcomer().ask().type == wireup_type::reply);
    CHECK_FALSE(in.first.was_ended(1));
}

TEST_CASE("a peer whose endpoint is ended or refused for the limit gets that status") {
    const auto type = GENERATE(wireup_type::failed, wireup_type::refuse);
    asking_world in;
    const test::log_capture log;
    completion_record sent;
    in.send_sync(std::vector<std::byte>(8), sent);
    in.settle();
    wireup_header end{type,
                      {static_cast<std::uint8_t>(end_reason::too_many)},
                      in.peer.uid(),
                      in.worker->uid(),
                      type == wireup_type::failed ? raw_world::peer_ep : 0,
                      in.ep_id()};
    if (type == wireup_type::refuse) {
        // The receipt from the worker's request for this endpoint.
        ucp::wireup::connect_again(in.ep());
        end.receipt = in.peer.connection_messages().back().receipt;
    }
    in.deliver(ucp::wire::wireup, end);
    CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(sent.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(log.count("peers have made as many endpoints there as its limit allows") == 1);
}

// --- choice of the peer that has to give an endpoint up, without a network ---

namespace {

struct pool {
    explicit pool(const uninvited_limits& limits = {}) : all(limits) {}

    struct member final : uninvited_peers::part {
        using part::part;
        std::uint64_t received = 1;
    };
    member& add(std::size_t endpoints, std::uint64_t received = 1) {
        member& fresh = members.emplace_back(all);
        fresh.received = received;
        for (std::size_t i = 0; i < endpoints; ++i)
            fresh.add_endpoint();
        fresh.note_received(received);
        return fresh;
    }
    member* least(bool only_with_descriptor = false) {
        return static_cast<member*>(
            all.least(only_with_descriptor, [this](const uninvited_peers::part& each) {
                ++checks;
                return static_cast<const member&>(each).received;
            }));
    }

    uninvited_peers all;
    std::list<member> members;
    unsigned checks = 0;
};

}  // namespace

TEST_CASE("the oldest peer that has sent nothing gives an endpoint up first") {
    pool in;
    pool::member& talks = in.add(1);
    pool::member& has_many = in.add(63);
    pool::member& silent = in.add(1);
    pool::member& younger = in.add(1);
    talks.received = has_many.received = 5;
    CHECK(in.least() == &silent);
    silent.remove_endpoint();
    CHECK(in.least() == &younger);
    younger.remove_endpoint();
    CHECK(in.least() == &has_many);
}

TEST_CASE("a peer with many endpoints gives them up before silent peers do") {
    // Regression: it displaced all others by more requests, silent or not.
    pool in;
    pool::member& silent = in.add(1);
    pool::member& greedy = in.add(65);
    greedy.received = GENERATE(1U, 5U);
    CHECK(in.least() == &greedy);
    greedy.remove_endpoint();
    CHECK(in.least() == &greedy);
    greedy.remove_endpoint();
    CHECK(in.least() == &silent);
}

TEST_CASE(
    "among active peers the one with most endpoints gives one up, if it has more than three") {
    pool in;
    std::vector<pool::member*> few;
    for (std::size_t i = 0; i < 10; ++i)
        few.push_back(&in.add(1 + i % 3));
    pool::member& has_most = in.add(9);
    pool::member& has_some = in.add(4);
    for (pool::member& each : in.members)
        each.received = 2;
    CHECK(in.least() == &has_most);
    while (has_most.endpoints() > 3)
        has_most.remove_endpoint();
    CHECK(in.least() == &has_some);
    has_some.remove_endpoint();
    // All peers have few endpoints: the first one that has sent nothing since the last check is
    // chosen.
    for (pool::member* each : few)
        each->received = 3;
    CHECK(in.least() == &has_most);
    few[4]->received = has_most.received = 4;
    has_some.received = 4;
    CHECK(in.least() == few[0]);
}

TEST_CASE("peers whose traffic is unknown count as active") {
    pool in;
    pool::member& untold = in.add(1, 0);
    pool::member& silent = in.add(1);
    CHECK(in.least() == &silent);
    silent.remove_endpoint();
    CHECK(in.least() == &untold);
}

TEST_CASE("few peers are checked, however many there are") {
    pool in;
    for (int i = 0; i < 10'000; ++i)
        in.add(1);
    for (pool::member& each : in.members)
        ++each.received;
    for (int i = 0; i < 100; ++i) {
        in.checks = 0;
        REQUIRE(in.least() != nullptr);
        CHECK(in.checks <= 64);
        for (pool::member& each : in.members)
            ++each.received;
    }
}

TEST_CASE("with a shortage of descriptors only peers whose lanes keep one give an endpoint up") {
    pool in({.most = 100, .most_if_scarce = 2});
    pool::member& without = in.add(50);
    CHECK(in.least(true) == nullptr);
    pool::member& with = in.add(1);
    with.set_descriptor(true);
    CHECK(in.least(true) == &with);
    CHECK_FALSE(in.all.is_full_if_scarce());
    pool::member& other = in.add(1);
    other.set_descriptor(true);
    CHECK(in.all.is_full_if_scarce());
    with.set_descriptor(false);
    CHECK_FALSE(in.all.is_full_if_scarce());
    CHECK(in.least(true) == &other);
    other.remove_endpoint();
    CHECK(in.least(true) == nullptr);
    CHECK(in.all.size() == 51);
    CHECK(in.least() == &without);
}

TEST_CASE("a stranger counts without an endpoint, and once with its first endpoint") {
    pool in({.most = 2});
    pool::member& stranger = in.add(0);
    CHECK(in.least() == nullptr);
    stranger.set_stranger(true);
    CHECK(in.all.size() == 1);
    stranger.add_endpoint();
    CHECK(in.all.size() == 1);
    stranger.add_endpoint();
    CHECK(in.all.size() == 2);
    CHECK(in.all.is_full());
    in.members.clear();
    CHECK(in.all.size() == 0);
    CHECK(in.least() == nullptr);
}
