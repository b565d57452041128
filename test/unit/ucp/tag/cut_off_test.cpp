// Senders that ignore their window and are cut off.
#include <algorithm>
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/eager/assembler.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/tag/matcher.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

constexpr std::size_t ordinary = 10'000;
constexpr std::size_t hard = 100'000;
constexpr std::size_t share = hard - ordinary;
const settings limited{{"UNEXPECTED_LIMIT", std::to_string(ordinary)},
                       {"UNEXPECTED_HARD_LIMIT", std::to_string(hard)}};
constexpr std::size_t length = 1000;

ucp::unexpected_memory& memory_of(const raw_world& in) {
    return slot_of<ucp::tag_matcher>(*in.worker).memory();
}

std::vector<std::byte> data(std::size_t bytes = length) {
    return std::vector<std::byte>(bytes);
}

void send_small(raw_world& in, raw_peer& from, std::uint64_t tag, std::size_t count = 1) {
    for (std::size_t i = 0; i < count; ++i) {
        from.send(wire::eager_only, wire::eager_only_header{tag}, data());
        in.settle();
        while (from.progress() > 0) {
        }
    }
}

// Another peer sends messages, and its connection ends.
void pass(raw_world& in, std::uint64_t tag, std::size_t count) {
    raw_peer passing(in.network, *in.worker);
    send_small(in, passing, tag, count);
}

// Methods of filling a receiver's memory. `number` counts the messages.
enum class kind : std::uint8_t { small, synchronous, incomplete, pieces, rts_only };

void send_one(raw_world& in, raw_peer& from, kind method, std::uint64_t number) {
    switch (method) {
        case kind::small:
            from.send(wire::eager_only, wire::eager_only_header{1}, data());
            break;
        case kind::synchronous:
            from.send(wire::eager_first,
                      wire::eager_first_header{1, length, in.ep_id(), number, 5 + number}, data());
            break;
        case kind::incomplete:
            from.send(wire::eager_first,
                      wire::eager_first_header{1, 2 * length, in.ep_id(), number, 0}, data());
            break;
        case kind::pieces:  // fragments of one message
            if (number == 1) {
                from.send(wire::eager_first,
                          wire::eager_first_header{1, 1U << 30, in.ep_id(), 1, 0}, data(1));
            } else {
                from.send(wire::eager_data, wire::eager_data_header{in.ep_id(), 1, number - 1},
                          data(1));
            }
            break;
        case kind::rts_only:
            from.send(wire::rndv_rts, wire::rts_header{1, length, in.ep_id(), number, 0, 0});
            break;
    }
    in.settle();
}

// Returns the number of messages sent until the worker cut off its peer; 0 if it did not.
std::size_t flood(raw_world& in, kind method, std::size_t most = 2000) {
    for (std::size_t sent = 1; sent <= most; ++sent) {
        send_one(in, in.peer, method, sent);
        CHECK(memory_of(in).kept() <= hard + length + 1000);
        if (in.ep().failure() != UCS_OK) return sent;
    }
    return 0;
}

std::size_t received(const raw_world& in, std::uint64_t tag) {
    std::size_t count = 0;
    for (;; ++count) {
        std::vector<std::byte> into(length);
        ucp_tag_recv_info_t info;
        if (ucp_tag_probe_nb(in.worker_handle(), tag, ~std::uint64_t{0}, 0, &info) == nullptr)
            return count;
        CHECK(ucp_tag_recv_nbx(in.worker_handle(), into.data(), length, tag, ~std::uint64_t{0},
                               &plain) == nullptr);
    }
}

}  // namespace

TEST_CASE("a sender that sends on above the hard limit is cut off, and other senders are not") {
    test::log_capture log;
    raw_world in(limited);
    raw_peer other(in.network, *in.worker);
    const kind method =
        GENERATE(kind::small, kind::synchronous, kind::incomplete, kind::pieces, kind::rts_only);
    send_small(in, other, 2, 3);
    const std::size_t sent = flood(in, method);
    REQUIRE(sent > 0);
    CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(log.count("it is cut off", ucs::log::level::error) == 1);
    INFO(log.text());
    // Messages that came before the ordinary limit was reached count for no connection. They stay
    // if they are complete.
    CHECK(memory_of(in).kept() <= ordinary + length + 1000);
    CHECK(memory_of(in).shares().count() == 0);
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 0);
    if (method == kind::rts_only) CHECK(memory_of(in).rts_count() == 0);
    CHECK(slot_of<ucp::unexpected_rts_messages>(in.ep()).list.empty());
    send_small(in, other, 2, 4);
    CHECK(received(in, 2) == 7);
}

TEST_CASE("messages that were sent before are not accepted after the connection was cut off") {
    raw_world in(limited);
    for (int round = 0; round < 100 && in.ep().failure() == UCS_OK; ++round) {
        // Sends many messages at once.
        for (int i = 0; i < 8; ++i)
            in.peer.send(wire::eager_only, wire::eager_only_header{1}, data());
        in.settle();
    }
    REQUIRE(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(memory_of(in).kept() <= ordinary + length + 1000);
    CHECK(memory_of(in).shares().count() == 0);
}

TEST_CASE("a message that a probe removed survives the end of its sender") {
    raw_world in(limited);
    // These messages count for no connection.
    send_small(in, in.peer, 1, 10);
    in.deliver(wire::eager_only, wire::eager_only_header{3}, data(700));
    ucp_tag_recv_info_t info;
    const ucp_tag_message_h taken =
        ucp_tag_probe_nb(in.worker_handle(), 3, ~std::uint64_t{0}, 1, &info);
    REQUIRE(taken != nullptr);
    REQUIRE(memory_of(in).shares().count() == 1);
    REQUIRE(flood(in, kind::small) > 0);
    std::vector<std::byte> into(length);
    CHECK(ucp_tag_msg_recv_nbx(in.worker_handle(), into.data(), length, taken, &plain) == nullptr);
    CHECK(info.length == 700);
    CHECK(memory_of(in).shares().count() == 0);
}

TEST_CASE("successive connections cannot store more than the limit") {
    test::log_capture log;
    raw_world in(limited);
    const auto sends = GENERATE(as<std::size_t>{}, 1, 20, 55);
    std::size_t most = 0;
    for (std::size_t sent = 0; sent < 400; sent += sends) {
        raw_peer passing(in.network, *in.worker);
        send_small(in, passing, 2, sends);
        most = std::max(most, memory_of(in).kept());
    }
    CHECK(most > hard - 10 * length);
    // A living connection has its share in addition to the share of the ended ones.
    const std::size_t alive = sends * (length + ucp::eager_window::message_cost);
    CHECK(most <= hard + alive + share / 16 + 2 * length);
    CHECK(log.count("of connections that have ended are dropped", ucs::log::level::error) > 0);
    CHECK(log.count("it is cut off", ucs::log::level::error) == 0);
    CHECK(in.ep().failure() == UCS_OK);
}

TEST_CASE("the oldest messages of ended connections are dropped first") {
    raw_world in(limited);
    send_small(in, in.peer, 1, 15);  // some of these messages count for no connection
    pass(in, 2, 30);
    pass(in, 3, 30);
    // but the ended connections together have no more than a share
    REQUIRE(memory_of(in).kept() > hard);
    pass(in, 4, 10);
    send_small(in, in.peer, 1, 5);
    CHECK(in.ep().failure() == UCS_OK);
    CHECK(received(in, 1) == 20);
    const std::size_t oldest = received(in, 2);
    CHECK(oldest > 10);
    CHECK(oldest < 30);
    CHECK(received(in, 3) == 30);
    CHECK(received(in, 4) == 10);
    CHECK(memory_of(in).kept() == 0);
    CHECK(memory_of(in).shares().count() == 0);
}

TEST_CASE("the sender of a dropped message gets an error if it has another connection") {
    raw_world in(limited);
    send_small(in, in.peer, 1, 10);
    const kind method = GENERATE(kind::synchronous, kind::incomplete, kind::rts_only);
    for (std::uint64_t number = 1; number <= 400; ++number) {
        raw_peer passing(in.network, *in.worker);
        send_one(in, passing, method, number);
    }
    CHECK(memory_of(in).kept() <= hard + share / 16 + 2 * length);
    CHECK(slot_of<ucp::assembler>(*in.worker).count() < 400);
    CHECK(in.ep().failure() == UCS_OK);
    if (method == kind::synchronous) {
        const auto answers = in.peer.received<wire::ack_header>(wire::eager_ack);
        REQUIRE(!answers.empty());
        CHECK(answers.front().request == 6);
        CHECK(answers.front().status == UCS_ERR_EXCEEDS_LIMIT);
    }
    if (method == kind::rts_only) {
        const auto answers = in.peer.received<wire::ats_header>(wire::rndv_ats);
        REQUIRE(!answers.empty());
        CHECK(answers.front().request == 1);
        CHECK(answers.front().status == UCS_ERR_EXCEEDS_LIMIT);
    }
}

TEST_CASE(
    "messages of ended connections that a probe removed stay, and the search for others ends") {
    raw_world in(limited);
    send_small(in, in.peer, 1, 10);  // these messages count for no connection
    std::vector<ucp_tag_message_h> taken;
    const auto pass_and_probe = [&] {
        raw_peer passing(in.network, *in.worker);
        send_small(in, passing, 2, 20);
        for (int i = 0; i < 20; ++i) {
            ucp_tag_recv_info_t info;
            taken.push_back(ucp_tag_probe_nb(in.worker_handle(), 2, ~std::uint64_t{0}, 1, &info));
            REQUIRE(taken.back() != nullptr);
        }
    };
    for (int round = 0; round < 6; ++round)
        pass_and_probe();
    const std::size_t kept = memory_of(in).kept();
    REQUIRE(kept > hard + length);
    // A message that was not removed by a probe is dropped, but the memory stays in use.
    pass(in, 3, 10);
    send_small(in, in.peer, 1, 5);
    in.settle();
    CHECK_FALSE(memory_of(in).is_overfull());
    CHECK(received(in, 3) < 10);
    CHECK(received(in, 1) == 15);
    CHECK(in.ep().failure() == UCS_OK);
    for (const ucp_tag_message_h each : taken) {
        std::vector<std::byte> into(length);
        CHECK(ucp_tag_msg_recv_nbx(in.worker_handle(), into.data(), length, each, &plain) ==
              nullptr);
    }
    CHECK(memory_of(in).shares().count() == 0);
}

TEST_CASE("senders with little memory each are not cut off, for any total") {
    raw_world in(limited);
    raw_peer other(in.network, *in.worker);
    // The first few messages count for no connection.
    constexpr std::size_t each = 60;
    send_small(in, in.peer, 1, each);
    send_small(in, other, 2, each);
    REQUIRE(memory_of(in).kept() > hard);
    CHECK(in.ep().failure() == UCS_OK);
    // The other sender, which has no endpoint here, is cut off when it exceeds its share.
    while (memory_of(in).kept() > hard)
        send_small(in, other, 2);
    CHECK(in.ep().failure() == UCS_OK);
    CHECK(received(in, 2) == 0);
    CHECK(received(in, 1) == each);
}

TEST_CASE("a worker whose limit is infinite stores all messages") {
    raw_world in(settings{{"UNEXPECTED_LIMIT", "inf"}});
    send_small(in, in.peer, 1, 400);
    CHECK(in.ep().failure() == UCS_OK);
    CHECK(memory_of(in).kept() >= 400 * length);
    CHECK(memory_of(in).shares().count() == 0);
}

TEST_CASE("received messages are not counted any more") {
    raw_world in(limited);
    for (int round = 0; round < 5; ++round) {
        send_small(in, in.peer, 1, 60);
        REQUIRE(memory_of(in).is_crowded());
        CHECK(received(in, 1) == 60);
        CHECK(memory_of(in).kept() == 0);
        CHECK(memory_of(in).shares().count() == 0);
    }
    CHECK(in.ep().failure() == UCS_OK);
}

TEST_CASE("the share of a sender follows the settings") {
    const auto limits_with = [](const settings& options) {
        return slot_of<ucp::tag_matcher>(*raw_world(options).worker).memory().limits();
    };
    constexpr std::size_t mib = std::size_t{1} << 20;
    const ucp::unexpected_limits usual = limits_with({});
    CHECK(usual.ordinary == 64 * mib);
    CHECK(usual.hard >= usual.ordinary + 64 * mib);
    CHECK(usual.share == 16 * mib);
    CHECK(limits_with({{"UNEXPECTED_WINDOW", "20m"}}).share == 43 * mib);
    const ucp::unexpected_limits long_messages = limits_with(
        {{"RNDV_THRESH", "30m"}, {"UNEXPECTED_HARD_LIMIT", "1g"}, {"UNEXPECTED_LIMIT", "1m"}});
    CHECK(long_messages.hard == 1024 * mib);
    CHECK(long_messages.share == 35 * mib);
    // With keys, an RTS takes 768 bytes.
    CHECK(limits_with({{"UNEXPECTED_ANNOUNCEMENTS", "65536"}, {"RNDV_THRESH", "1m"}}).share ==
          51 * mib);
    const ucp::unexpected_limits endless = limits_with({{"UNEXPECTED_ANNOUNCEMENTS", "inf"}});
    CHECK(endless.share == endless.hard - endless.ordinary);
    const ucp::unexpected_limits no_window = limits_with({{"UNEXPECTED_WINDOW", "inf"}});
    CHECK(no_window.share == no_window.hard - no_window.ordinary);
    const ucp::unexpected_limits none = limits_with({{"UNEXPECTED_LIMIT", "inf"}});
    CHECK(none.hard == none.ordinary);
}
