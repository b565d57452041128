// Bytes and credits of a peer that is wrong.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

std::size_t stored(const raw_world& in) {
    return in.ep().opened_stream() == nullptr ? 0 : in.ep().opened_stream()->stored();
}

}  // namespace

TEST_CASE("bytes for an endpoint that is not there, and messages that are too short, are dropped") {
    raw_world in(settings{});
    const test::log_capture log;
    in.peer.send(wire::stream_data, std::uint32_t{1});
    in.peer.send(wire::stream_credit, std::uint64_t{1});
    in.peer.send(wire::stream_data, std::uint64_t{999}, std::vector<std::byte>(10));
    in.peer.send(wire::stream_credit, wire::stream_credit_header{999, 5});
    in.settle();
    CHECK(stored(in) == 0);
    CHECK(log.count("malformed", ucs::log::level::warn) == 2);
}

TEST_CASE("a peer that sends more than its window loses the endpoint, with a line") {
    raw_world in(settings{});
    const test::log_capture log;
    constexpr std::size_t piece = 4000;
    std::size_t sent = 0;
    for (; sent + piece <= wire::first_stream_window; sent += piece) {
        in.peer.send(wire::stream_data, in.ep_id(), std::vector<std::byte>(piece));
        in.settle();
    }
    CHECK(stored(in) == sent);
    CHECK(in.ep().failure() == UCS_OK);
    in.peer.send(wire::stream_data, in.ep_id(), std::vector<std::byte>(piece));
    in.settle();
    CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(log.count("more of a stream than it may", ucs::log::level::warn) == 1);
    CHECK(stored(in) == sent);
}

TEST_CASE("a credit raises the limit and never lowers it") {
    raw_world in(settings{});
    ucp::stream_channel& channel = in.ep().stream();
    CHECK(channel.may_send(wire::first_stream_window));
    CHECK(!channel.may_send(wire::first_stream_window + 1));
    in.peer.send(wire::stream_credit, wire::stream_credit_header{in.ep_id(), 100});
    in.settle();
    CHECK(channel.may_send(wire::first_stream_window));
    in.peer.send(wire::stream_credit,
                 wire::stream_credit_header{in.ep_id(), wire::first_stream_window + 50});
    in.settle();
    CHECK(channel.may_send(wire::first_stream_window + 50));
    CHECK(!channel.may_send(wire::first_stream_window + 51));
}
