// rc_verbs where its queues and buffers come to their ends. What holds for every transport is in
// the conformance suite; here are the settings, and the mistakes, that only this one has.
#include <catch2/catch.hpp>

#include "test/conformance/support/reached.hpp"
#include "test/conformance/support/sender.hpp"
#include "test/support/log_capture.hpp"
#include "ucs/sys/text_file.hpp"
#include "uct/base/registry.hpp"

using namespace conformance;

namespace {

struct setting {
    const char* name;
    const char* text;
};

// The transport on the first device.
class rc_verbs final : public environment {
public:
    explicit rc_verbs(std::initializer_list<setting> settings = {}) {
        config_.set("RC_VERBS_TIMEOUT", "60ms");
        for (const setting& each : settings)
            config_.set(each.name, each.text);
        for (const uct::component* each : uct::builtin_components()) {
            if (each->name() == std::string("rc_verbs")) transport_ = each;
        }
        REQUIRE(transport_ != nullptr);
        const uct::listing found = transport_->query(config_);
        REQUIRE_FALSE(found.usable.empty());
        where_ = found.usable.front();
    }
    const uct::component& transport() const override { return *transport_; }
    uct::resource where() const override { return where_; }
    ucs::config::source config() const override { return config_; }

private:
    ucs::config::source config_ = ucs::config::source::empty();
    const uct::component* transport_ = nullptr;
    uct::resource where_;
};

// How often the first device was told that a receiver had no buffer.
long long refusals_for_want_of_buffers() {
    return ucs::sys::read_number("/sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err")
        .value_or(0);
}

bool in_order(const side& at, std::uint32_t stream, std::uint32_t count) {
    std::uint32_t next = 0;
    for (const received& each : at.inbox) {
        const tag who = tag_of(each.data);
        if (who.stream == stream && who.number != next++) return false;
    }
    return next == count;
}

// Sends as long as there is room, without progress of anybody; how many went.
std::uint32_t fill(sender& out, side& from, uct::ep& via, std::uint32_t stream) {
    constexpr std::uint32_t limit = 100'000;
    std::uint32_t sent = 0;
    while (sent < limit && out.try_send(from, via, uct::op::am_short, 1,
                                        make_message({stream, sent}, 16)) == UCS_OK)
        ++sent;
    REQUIRE(out.last_status() == UCS_ERR_NO_RESOURCE);
    return sent;
}

void check_message(network& net, sender& out, side& from, uct::ep& via, side& to,
                   std::uint32_t stream) {
    REQUIRE(out.send(from, via, uct::op::am_short, 1, make_message({stream, 0}, 16)));
    REQUIRE(net.run_until([&] { return to.count(stream) == 1; }));
}

}  // namespace

TEST_CASE("a message that is longer than the receiver's buffers ends its endpoint alone") {
    rc_verbs usual;
    rc_verbs narrow({{"RC_VERBS_SEG_SIZE", "2k"}});
    const test::log_capture log;
    network senders(usual);
    network receivers(narrow);
    side& a = senders.at(0);
    side& b = receivers.at(0);
    const auto both = [&](const std::function<bool()>& done) {
        return senders.run_until([&] { return receivers.progress(), done(); });
    };
    const auto broken = a.connect(b);
    const auto kept = a.connect(b);
    sender out(senders);
    REQUIRE(out.try_send(a, *broken, uct::op::am_bcopy, 1, make_message({1, 0}, 2047)) == UCS_OK);
    REQUIRE(both([&] { return b.count(1) == 1; }));
    REQUIRE(out.try_send(a, *broken, uct::op::am_bcopy, 1, make_message({1, 1}, 2048)) == UCS_OK);
    REQUIRE(both([&] { return !a.failures.empty(); }));
    CHECK(a.failures.size() == 1);
    CHECK(a.failures.front().which == broken.get());
    // A card answers that the request is invalid, soft RoCE that it could not be carried out.
    const ucs_status_t how = a.failures.front().status;
    CHECK((how == UCS_ERR_REJECTED || how == UCS_ERR_CONNECTION_RESET));
    CHECK(out.try_send(a, *broken, uct::op::am_bcopy, 1, make_message({1, 2}, 16)) == how);
    CHECK(b.count(1) == 1);
    CHECK(log.count("was not received") + log.count("is broken") >= 1);
    REQUIRE(out.try_send(a, *kept, uct::op::am_bcopy, 1, make_message({2, 0}, 2047)) == UCS_OK);
    REQUIRE(both([&] { return b.count(2) == 1; }));
}

TEST_CASE("a receiver that does not progress loses nothing, and its senders are told to wait") {
    rc_verbs where({{"RC_VERBS_FC_ENABLE", "n"},
                    {"RC_VERBS_RX_QUEUE_LEN", "8"},
                    {"RC_VERBS_RX_BUFS_FIRST", "8"},
                    {"RC_VERBS_TX_QUEUE_LEN", "64"}});
    network net(where);
    side& a = net.at(0);
    side& b = net.at(1);
    sender out(net);
    const auto via = a.connect(b);
    const auto other = a.connect(b);
    const long long before = refusals_for_want_of_buffers();
    const std::uint32_t sent = fill(out, a, *via, 1);
    CHECK(sent > 8);
    std::size_t turns = 0;
    while (refusals_for_want_of_buffers() == before && ++turns < 1'000'000)
        a.progress();
    CHECK(refusals_for_want_of_buffers() > before);
    CHECK(b.inbox.empty());
    REQUIRE(net.run_until([&] { return b.count(1) == sent; }));
    CHECK(in_order(b, 1, sent));
    check_message(net, out, a, *via, b, 2);
    check_message(net, out, a, *other, b, 3);
    CHECK(a.failures.empty());
}

TEST_CASE("a sender is no further ahead of its receiver than its window") {
    rc_verbs where({{"RC_VERBS_FC_WND_SIZE", "6"}});
    network net(where);
    side& a = net.at(0);
    side& b = net.at(1);
    sender out(net);
    const auto via = a.connect(b);
    CHECK(fill(out, a, *via, 1) == 6);
    for (int turn = 0; turn < 1000; ++turn)
        a.progress();
    CHECK(out.try_send(a, *via, uct::op::am_short, 1, make_message({1, 6}, 16)) ==
          UCS_ERR_NO_RESOURCE);
    REQUIRE(net.run_until([&] { return b.count(1) == 6; }));
    REQUIRE(out.send(a, *via, uct::op::am_short, 1, make_message({1, 6}, 16)));
    REQUIRE(net.run_until([&] { return b.count(1) == 7; }));
    CHECK(in_order(b, 1, 7));
}

TEST_CASE("the smallest completion queue is not overrun by many endpoints, broken ones neither") {
    rc_verbs where({{"RC_VERBS_TX_CQ_LEN", "4"}});
    network net(where);
    side& a = net.at(0);
    constexpr std::uint32_t endpoints = 16, rounds = 40;
    std::vector<std::unique_ptr<uct::ep>> eps;
    bytes memory(endpoints * 8);
    const reached there(net.at(1), a, memory);
    sender out(net);
    for (std::uint32_t i = 0; i < endpoints; ++i)
        eps.push_back(a.connect(net.at(1 + i % 2)));
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t i = 0; i < endpoints; ++i) {
            REQUIRE(out.send(a, *eps[i], uct::op::am_short, 1, make_message({i, round}, 16)));
            if (i % 2 != 0) continue;  // the memory is the first one's
            const std::uint64_t word = std::uint64_t{round} << 32U | i;
            REQUIRE(net.run_until([&] {
                return eps[i]->put_short(&word, sizeof word, there.at(8 * i)) !=
                       UCS_ERR_NO_RESOURCE;
            }));
        }
    }
    REQUIRE(net.run_until(
        [&] { return net.at(1).inbox.size() + net.at(2).inbox.size() == endpoints * rounds; }));
    for (std::uint32_t i = 0; i < endpoints; ++i)
        CHECK(in_order(net.at(1 + i % 2), i, rounds));
    // Half of them break with everything that is under way.
    for (std::uint32_t i = 0; i < endpoints; ++i)
        static_cast<void>(
            out.try_send(a, *eps[i], uct::op::am_short, 1, make_message({i, rounds}, 16)));
    net.remove(2);
    REQUIRE(net.run_until([&] {
        for (std::uint32_t i = 1; i < endpoints; i += 2)
            static_cast<void>(
                out.try_send(a, *eps[i], uct::op::am_short, 1, make_message({i, 999}, 16)));
        return a.failures.size() == endpoints / 2;
    }));
    std::uint64_t last = 0;
    std::memcpy(&last, memory.data(), sizeof last);
    CHECK(last == std::uint64_t{rounds - 1} << 32U);
    for (std::uint32_t i = 0; i < endpoints; i += 2)
        check_message(net, out, a, *eps[i], net.at(1), 100 + i);
    CHECK(a.failures.size() == endpoints / 2);
}

TEST_CASE("200 queue pairs between two interfaces each carry messages and reach memory") {
    rc_verbs where({{"RC_VERBS_TX_QUEUE_LEN", "8"}});
    network net(where);
    side& a = net.at(0);
    side& b = net.at(1);
    constexpr std::uint32_t count = 100;  // in each direction
    std::vector<std::unique_ptr<uct::ep>> eps;
    std::vector<std::uint64_t> memory(count);
    const reached there(b, a, std::as_writable_bytes(std::span(memory)));
    sender out(net);
    for (std::uint32_t i = 0; i < count; ++i) {
        eps.push_back(a.connect(b));
        eps.push_back(b.connect(a));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(out.send(a, *eps[2 * i], uct::op::am_short, 1, make_message({i, 0}, 16)));
        REQUIRE(out.send(b, *eps[2 * i + 1], uct::op::am_short, 2, make_message({i, 0}, 16)));
        const std::uint64_t word = 0x1234'0000 + i;
        REQUIRE(net.run_until([&] {
            return eps[2 * i]->put_short(&word, sizeof word, there.at(8 * i)) !=
                   UCS_ERR_NO_RESOURCE;
        }));
    }
    REQUIRE(net.run_until([&] { return a.inbox.size() == count && b.inbox.size() == count; }));
    std::vector<std::uint64_t> got(count);
    counted read;
    read.count = 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(a.count(i) == 1);
        CHECK(b.count(i) == 1);
        ucs_status_t status = UCS_OK;
        ++read.count;
        REQUIRE(net.run_until([&] {
            status = eps[2 * i]->get_bcopy(&got[i], sizeof got[i], there.at(8 * i), &read);
            return status != UCS_ERR_NO_RESOURCE;
        }));
        REQUIRE(status == UCS_INPROGRESS);
    }
    REQUIRE(net.run_until([&] { return read.count == 1; }));
    CHECK(read.status == UCS_OK);
    for (std::uint32_t i = 0; i < count; ++i)
        CHECK(got[i] == 0x1234'0000 + i);
}
