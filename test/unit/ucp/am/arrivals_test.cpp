// Active messages of a peer that sends wrong, late or incomplete messages.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/am/receiver.hpp"
#include "ucp/eager/assembler.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

const settings rendezvous_by_am{{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "am"}};

// Handler that counts its calls and remembers its data.
struct handler {
    int calls = 0;
    std::vector<std::byte> header;
    void* kept = nullptr;
    ucs_status_t result = UCS_OK;

    static ucs_status_t call(void* arg, const void* header, std::size_t header_length, void* data,
                             std::size_t, const ucp_am_recv_param_t*) {
        auto& self = *static_cast<handler*>(arg);
        ++self.calls;
        const auto* from = static_cast<const std::byte*>(header);
        self.header.assign(from, from + header_length);
        self.kept = data;
        return self.result;
    }
    void install(raw_world& in, bool whole = false) {
        slot_of<ucp::am_receiver>(*in.worker)
            .set_handler(5, {.call = call, .arg = this, .whole = whole});
    }
};

std::uint64_t word(std::uint16_t id, std::uint32_t header_length, std::uint16_t flags = 0) {
    return wire::to_bits({id, flags, header_length});
}

// A receiver with a handler.
struct receiving {
    receiving() { got.install(in); }
    raw_world in{settings{}};
    handler got;
};

}  // namespace

TEST_CASE_METHOD(receiving,
                 "an active message that is shorter than it claims is dropped with a log line") {
    const test::log_capture log;
    const std::vector<std::byte> body(20);
    in.peer.send(wire::am_only, std::uint32_t{1});                   // no word
    in.peer.send(wire::am_only, word(5, 21), body);                  // header
    in.peer.send(wire::am_only, word(5, ~0U), body);                 // a huge one
    in.peer.send(wire::am_only, word(5, 0, wire::am_reply));         // no endpoint
    in.peer.send(wire::am_only, word(5, 13, wire::am_reply), body);  // header after it
    in.peer.send(wire::am_first, wire::eager_first_header{word(5, 21), 100, in.ep_id(), 1, 0},
                 body);
    in.peer.send(wire::am_first, wire::eager_first_header{word(5, 0), 19, in.ep_id(), 2, 0}, body);
    in.peer.send(wire::am_rts, wire::rts_header{word(5, 21), 100, in.ep_id(), 9, 0, 0}, body);
    in.peer.send(wire::am_rts, wire::rts_header{word(5, 0), 0, in.ep_id(), 9, 0, 0}, body);
    in.deliver(wire::am_rts, wire::rts_header{word(5, 0), 100, in.ep_id(), 0, 0, 0}, body);
    CHECK(got.calls == 0);
    CHECK(log.count("malformed", ucs::log::level::warn) >= 8);  // later log lines are only counted
    in.deliver(wire::am_only, word(5, 3), body);
    CHECK(got.calls == 1);
    CHECK(got.header.size() == 3);
}

TEST_CASE("a message whose header is longer than any worker allows is malformed") {
    raw_world in({}, {.max_bcopy = 32 * 1024});
    handler got;
    got.install(in);
    const test::log_capture log;
    constexpr std::uint32_t longest = 8 * 1024;
    REQUIRE(slot_of<ucp::am_receiver>(*in.worker).max_header() == longest);
    const std::vector<std::byte> body(longest + 100);
    for (const std::uint32_t length : {longest + 1, longest + 100}) {
        in.peer.send(wire::am_only, word(5, length), body);
        in.peer.send(wire::am_first,
                     wire::eager_first_header{word(5, length), 100, in.ep_id(), 1, 0}, body);
        in.peer.send(wire::am_rts, wire::rts_header{word(5, length), 100, in.ep_id(), 9, 0, 0},
                     body);
    }
    in.settle();
    CHECK(got.calls == 0);
    CHECK(log.count("malformed", ucs::log::level::warn) == 6);
    CHECK(in.worker->log().rejected().count() == 6);
    in.deliver(wire::am_only, word(5, longest), body);
    CHECK(got.calls == 1);
    CHECK(got.header.size() == longest);
}

TEST_CASE_METHOD(receiving, "a message that names an unknown reply endpoint is dropped") {
    const std::uint64_t unknown_ep = 12345;
    std::vector<std::byte> body(8);
    std::memcpy(body.data(), &unknown_ep, 8);
    in.deliver(wire::am_only, word(5, 0, wire::am_reply), body);
    CHECK(got.calls == 0);
}

TEST_CASE_METHOD(
    receiving,
    "a fragmented message whose handler is removed meanwhile is dropped without a leak") {
    in.deliver(wire::am_first, wire::eager_first_header{word(5, 0), 30, in.ep_id(), 1, 0},
               std::vector<std::byte>(10));
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 1);
    slot_of<ucp::am_receiver>(*in.worker).set_handler(5, {});
    in.deliver(wire::eager_data, wire::eager_data_header{in.ep_id(), 1, 10},
               std::vector<std::byte>(20));
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 0);
    CHECK(got.calls == 0);
}

TEST_CASE_METHOD(receiving, "an incomplete active message is dropped with its endpoint") {
    in.deliver(wire::am_first, wire::eager_first_header{word(5, 4), 30, in.ep_id(), 1, 0},
               std::vector<std::byte>(10));
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 1);
    in.peer_closes();
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 0);
    CHECK(got.calls == 0);
}

TEST_CASE_METHOD(receiving, "incomplete active messages of a peer are limited") {
    const test::log_capture log;
    slot_of<ucp::am_receiver>(*in.worker).arriving().set_most(100'000);
    // All endpoints of a peer share one limit.
    in.deliver(wire::wireup_type::request, 78, 1);
    const std::uint64_t second = in.peer.connection_messages().back().ep;
    REQUIRE(second != in.ep_id());
    for (std::uint64_t number = 1; number <= 100; ++number) {
        in.deliver(wire::am_first,
                   wire::eager_first_header{word(5, 0), 30, number % 2 == 0 ? second : in.ep_id(),
                                            number, 0},
                   std::vector<std::byte>(10));
    }
    const std::size_t begun = slot_of<ucp::assembler>(*in.worker).count();
    CHECK(begun > 50);
    CHECK(begun < 100);
    CHECK(log.count("its sender has begun more", ucs::log::level::error) > 0);
    CHECK(in.ep().failure() == UCS_OK);
    // A message that has begun can still end; then another message may begin.
    in.peer.send(wire::eager_data, wire::eager_data_header{in.ep_id(), 1, 10},
                 std::vector<std::byte>(20));
    in.deliver(wire::am_first, wire::eager_first_header{word(5, 0), 30, in.ep_id(), 2000, 0},
               std::vector<std::byte>(10));
    CHECK(got.calls == 1);
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == begun);
    in.peer_closes();
    in.close_by_force();
    in.deliver(wire::wireup_type::close, 78, second, {});
    CHECK(slot_of<ucp::am_receiver>(*in.worker).arriving().used() == 0);
}

TEST_CASE_METHOD(receiving, "a message that is longer than the memory of the machine is refused") {
    const test::log_capture log;
    in.deliver(wire::am_first,
               wire::eager_first_header{word(5, 0), ~std::uint64_t{0}, in.ep_id(), 1, 0},
               std::vector<std::byte>(10));
    CHECK(log.count("its sender has begun more", ucs::log::level::error) == 1);
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 0);
    in.deliver(wire::am_only, word(5, 0));
    CHECK(got.calls == 1);
}

TEST_CASE("log lines about active messages without memory become less and less frequent") {
    raw_world in(settings{});
    handler got;
    got.install(in, true);
    const std::uint64_t total = ~std::uint64_t{0};
    const bool announces = GENERATE(false, true);
    const test::log_capture log;
    for (std::uint64_t number = 1; number <= 120; ++number) {
        if (announces) {
            in.peer.send(wire::am_rts,
                         wire::rts_header{word(5, 0), total, in.ep_id(), number, 0, 0});
        } else {
            in.peer.send(wire::am_first,
                         wire::eager_first_header{word(5, 0), total, in.ep_id(), number, 0});
        }
        in.settle();
    }
    INFO(log.text());
    CHECK(log.count(announces ? "out of memory" : "its sender has begun more") ==
          ucs::log::throttle::first_lines + 2);
    CHECK(in.worker->log().rejected().count() == 120);
    CHECK(got.calls == 0);
}

TEST_CASE("memory for messages that peers announce and never send is limited") {
    raw_world in(rendezvous_by_am);
    handler got;
    got.install(in, true);
    slot_of<ucp::am_receiver>(*in.worker).arriving().set_most(1'000'000);
    const test::log_capture log;
    const auto replies = [&] { return in.peer.received<wire::ats_header>(wire::rndv_ats); };
    std::uint64_t number = 0;
    const auto begin_message = [&](std::uint64_t total) {
        in.deliver(wire::am_rts, wire::rts_header{word(5, 0), total, in.ep_id(), ++number, 0, 0});
    };
    SECTION("few large messages") {
        begin_message(600'000);
        CHECK(replies().empty());
        begin_message(600'000);
    }
    SECTION("many small messages") {
        while (replies().empty() && number < 10'000)
            begin_message(1);
        CHECK(number > 100);
    }
    REQUIRE(replies().size() == 1);
    CHECK(replies()[0].request == number);
    CHECK(replies()[0].status == UCS_ERR_NO_MEMORY);
    CHECK(log.count("out of memory") == 1);
    in.peer_closes();  // the running messages end, and others may follow
    in.close_by_force();
    in.settle();
    CHECK(got.calls == 0);
}

TEST_CASE("a peer that blocks memory for active messages fails when others need it") {
    raw_world in(rendezvous_by_am);
    raw_peer other(in.network, *in.worker);
    const auto settle = [&] {
        do {
            in.settle();
        } while (other.progress() > 0);
    };
    other.send(wire::wireup_type::request, 88, 0);
    settle();
    const std::uint64_t its_ep = other.connection_messages().back().ep;
    handler got;
    got.install(in, true);
    ucp::shared_limit& limit = slot_of<ucp::am_receiver>(*in.worker).arriving();
    limit.set_most(1'000'000);
    const test::log_capture log;
    const bool announces = GENERATE(false, true);
    const auto begin = [&](raw_peer& from, std::uint64_t ep, std::uint64_t total) {
        if (announces) {
            from.send(wire::am_rts, wire::rts_header{word(5, 0), total, ep, 9, 0, 0});
        } else {
            from.send(wire::am_first, wire::eager_first_header{word(5, 0), total, ep, 9, 0});
        }
        settle();
    };
    const auto refused = [&] {
        return announces ? other.received<wire::ats_header>(wire::rndv_ats).size()
                         : log.count("its sender has begun more");
    };
    begin(in.peer, in.ep_id(), 900'000);
    CHECK(limit.used() > 900'000);
    SECTION("if the other peer has less") {
        begin(other, its_ep, 300'000);
        CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
        CHECK(log.count("not finished them") == 1);
        CHECK(in.peer.connection_messages().back().type == wire::wireup_type::failed);
        CHECK(limit.used() > 300'000);
        CHECK(limit.used() < 400'000);
        CHECK(refused() == 0);
    }
    SECTION("not if the other peer wants more") {
        begin(other, its_ep, 950'000);
        CHECK(in.ep().failure() == UCS_OK);
        CHECK(limit.used() < 950'000);
        CHECK(refused() == 1);
    }
    SECTION("not for its own messages") {
        begin(in.peer, in.ep_id(), 200'000);
        CHECK(in.ep().failure() == UCS_OK);
        CHECK(limit.used() < 1'000'000);
    }
    CHECK(in.worker->endpoints().find(its_ep)->failure() == UCS_OK);
}

TEST_CASE_METHOD(receiving,
                 "dropping messages of the peer with the largest share does not search all peers") {
    std::vector<std::unique_ptr<raw_peer>> others;
    std::vector<std::uint64_t> their_eps;
    for (std::uint64_t i = 0; i < 5; ++i) {
        raw_peer& other = *others.emplace_back(std::make_unique<raw_peer>(in.network));
        in.drive([&other] { return other.progress(); });
        other.reach(*in.worker);
        other.send(wire::wireup_type::request, 88, 0);
        in.settle();
        their_eps.push_back(other.connection_messages().back().ep);
    }
    slot_of<ucp::am_receiver>(*in.worker).arriving().set_most(1'000'000);
    const test::log_capture log;
    std::uint64_t number = 0;
    const auto begin = [&](raw_peer& from, std::uint64_t ep, std::uint64_t total) {
        from.send(wire::am_first, wire::eager_first_header{word(5, 0), total, ep, ++number, 0});
        in.settle();
    };
    // This peer has the largest share, less than half of the limit.
    begin(in.peer, in.ep_id(), 300'000);
    for (std::size_t i = 0; i < others.size(); ++i)
        begin(*others[i], their_eps[i], 120'000);
    for (int i = 0; i < 1000; ++i)
        begin(in.peer, in.ep_id(), 150'000);
    CHECK(in.worker->log().rejected().count() == 1000);
    CHECK(slot_of<ucp::am_receiver>(*in.worker).searches() <= 1);
    CHECK(in.ep().failure() == UCS_OK);
    // Other peers still get memory at its expense.
    begin(*others.front(), their_eps.front(), 100'000);
    CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(slot_of<ucp::assembler>(*in.worker).count() == 6);
}

TEST_CASE("an incomplete active message counts its header and the minimum of a block") {
    raw_world in(rendezvous_by_am);
    handler got;
    got.install(in, true);
    const ucp::shared_limit& limit = slot_of<ucp::am_receiver>(*in.worker).arriving();
    in.deliver(wire::am_rts, wire::rts_header{word(5, 0), 1, in.ep_id(), 9, 0, 0});
    CHECK(limit.used() > 1024 + sizeof(ucp::request));
    const std::uint64_t before = limit.used();
    in.deliver(wire::am_rts, wire::rts_header{word(5, 4000), 1, in.ep_id(), 9, 0, 0},
               std::vector<std::byte>(4000));
    CHECK(limit.used() > before + 4000);
    in.close_by_force();
    in.settle();
    CHECK(limit.used() == 0);
}

TEST_CASE(
    "the sender of an RTS gets an error if the receiver closes while the program holds the "
    "descriptor") {
    // In an earlier version the sender waited for ever.
    raw_world in(rendezvous_by_am);
    handler got;
    got.result = UCS_INPROGRESS;
    got.install(in);
    in.deliver(wire::am_rts, wire::rts_header{word(5, 0), 100, in.ep_id(), 9, 0, 0});
    REQUIRE(got.calls == 1);
    in.close_by_force();
    in.settle();
    const auto replies = in.peer.received<wire::ats_header>(wire::rndv_ats, 1);
    CHECK(replies[0].request == 9);
    CHECK(replies[0].status == UCS_ERR_CONNECTION_RESET);
    CHECK(slot_of<ucp::am_receiver>(*in.worker).kept_count() == 1);
    ucp_am_data_release(in.worker_handle(), got.kept);
    in.settle();
    CHECK(slot_of<ucp::am_receiver>(*in.worker).kept_count() == 0);
    CHECK(in.peer.received<wire::ats_header>(wire::rndv_ats).size() == 1);
}

TEST_CASE("am: a small transport buffer leaves space for the headers of programs") {
    // In an earlier version 321 bytes were reserved for memory keys, which no transport here uses.
    for (const std::size_t longest : {std::size_t{320}, std::size_t{330}, std::size_t{1000}}) {
        const raw_world world({}, {.max_bcopy = longest});
        CHECK(slot_of<ucp::am_receiver>(*world.worker).max_header() ==
              longest - (wire::am_longest_extra - ucp::longest_exposed_keys));
    }
}
