// Stream bytes and credits of a faulty peer.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/stream/endpoint.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

std::size_t stored(const raw_world& in) {
    return opened_stream_of(in.ep()) == nullptr ? 0 : opened_stream_of(in.ep())->stored();
}

// Returns the endpoints that ucp_stream_worker_poll lists.
std::vector<ucp_ep_h> shown(const raw_world& in) {
    ucp_stream_poll_ep_t list[8];
    const ssize_t count = ucp_stream_worker_poll(in.worker_handle(), list, 8, 0);
    REQUIRE(count >= 0);
    std::vector<ucp_ep_h> handles;
    for (ssize_t i = 0; i < count; ++i)
        handles.push_back(list[i].ep);
    return handles;
}

ucs_status_ptr_t read_all(const raw_world& in, std::vector<std::byte>& into, std::size_t& length,
                          completion_record& done) {
    ucp_request_param_t* const param = done.on_recv();
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param->flags = UCP_STREAM_RECV_FLAG_WAITALL;
    param->cb.recv_stream = [](void* request, ucs_status_t status, std::size_t, void* arg) {
        auto& result = *static_cast<completion_record*>(arg);
        result = {result.times + 1, status};
        ucp_request_free(request);
    };
    return ucp_stream_recv_nbx(in.ep_handle(), into.data(), into.size(), &length, param);
}

}  // namespace

TEST_CASE("messages for unknown endpoints and messages that are too short are dropped") {
    raw_world in(settings{});
    const test::log_capture log;
    in.peer.send(wire::stream_data, std::uint32_t{1});
    in.peer.send(wire::stream_credit, std::uint64_t{1});
    in.peer.send(wire::stream_data, std::uint64_t{999}, std::vector<std::byte>(10));
    in.deliver(wire::stream_credit, wire::stream_credit_header{999, 5});
    CHECK(stored(in) == 0);
    CHECK(log.count("malformed", ucs::log::level::warn) == 2);
}

TEST_CASE("a peer that sends more than its window loses the endpoint, with a log line") {
    raw_world in(settings{});
    const test::log_capture log;
    constexpr std::size_t piece = 4000;
    std::size_t sent = 0;
    for (; sent + piece <= wire::first_stream_window; sent += piece) {
        in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(piece));
    }
    CHECK(stored(in) == sent);
    CHECK(in.ep().failure() == UCS_OK);
    in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(piece));
    CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(log.count("more of a stream than it may", ucs::log::level::warn) == 1);
    CHECK(stored(in) == sent);
    // Without this message, the peer's endpoint would wait for ever.
    const auto messages = in.peer.connection_messages(2);
    CHECK(messages.back().type == wire::wireup_type::failed);
    CHECK(messages.back().peer_ep_or_number == raw_world::peer_ep);
}

TEST_CASE("a credit raises the limit and never lowers it") {
    raw_world in(settings{});
    const ucp::stream_sends& sends = stream_of(in.ep()).sends;
    CHECK(sends.may_send(wire::first_stream_window));
    CHECK(!sends.may_send(wire::first_stream_window + 1));
    in.deliver(wire::stream_credit, wire::stream_credit_header{in.ep_id(), 100});
    CHECK(sends.may_send(wire::first_stream_window));
    in.deliver(wire::stream_credit,
               wire::stream_credit_header{in.ep_id(), wire::first_stream_window + 50});
    CHECK(sends.may_send(wire::first_stream_window + 50));
    CHECK(!sends.may_send(wire::first_stream_window + 51));
}

TEST_CASE("an endpoint whose bytes a receive has taken is not listed") {
    raw_world in(settings{});
    std::vector<std::byte> buffer(100);
    std::size_t length = 0;
    completion_record done;
    REQUIRE(UCS_PTR_IS_PTR(read_all(in, buffer, length, done)));
    in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(100));
    REQUIRE(done.status == UCS_OK);
    CHECK(shown(in).empty());
    in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(1));
    CHECK(shown(in) == std::vector{in.ep_handle()});
}

TEST_CASE("an endpoint with bytes is listed from its creation by the program until its closing") {
    raw_world in(settings{});
    constexpr std::uint64_t other = raw_world::peer_ep + 1;
    in.deliver(wire::wireup_type::request, other, 1);
    const auto replies = in.peer.connection_messages(2);
    in.deliver(wire::stream_data, replies[1].ep, std::vector<std::byte>(10));
    CHECK(shown(in).empty());
    const ucp_ep_h made = in.make_ep();
    REQUIRE(ucp::capi::from(made).id() == replies[1].ep);
    CHECK(shown(in) == std::vector{made});
    in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(10));
    CHECK(shown(in).size() == 2);
    in.close_by_force();
    CHECK(shown(in) == std::vector{made});
}

TEST_CASE("a send that waits for credits fails when the peer has closed") {
    raw_world in(settings{});
    const std::vector<std::byte> data(wire::first_stream_window + 1000);
    completion_record sent[3];
    REQUIRE(UCS_PTR_IS_PTR(
        ucp_stream_send_nbx(in.ep_handle(), data.data(), data.size(), sent[0].on_send())));
    in.settle();
    REQUIRE(
        UCS_PTR_IS_PTR(ucp_stream_send_nbx(in.ep_handle(), data.data(), 10, sent[1].on_send())));
    const bool closing = GENERATE(false, true);
    if (closing) {
        REQUIRE(UCS_PTR_IS_PTR(ucp_ep_close_nbx(in.ep_handle(), sent[2].on_send())));
    }
    in.settle();
    CHECK(sent[0].times == 0);
    const auto messages = in.peer.received<wire::stream_credit_header>(wire::stream_credit);
    REQUIRE(messages.size() == (closing ? 1U : 0U));
    if (closing) CHECK(messages[0].limit == wire::no_reader);
    // Or the peer has begun to close, and waits for its own sends to us.
    const bool begins = GENERATE(false, true);
    if (begins) {
        in.deliver(wire::stream_credit, wire::stream_credit_header{in.ep_id(), wire::no_reader});
    } else {
        in.peer_closes();
    }
    CHECK(sent[0].status == UCS_ERR_CONNECTION_RESET);
    CHECK(sent[1].status == UCS_ERR_CONNECTION_RESET);
    CHECK(sent[2].times == (closing ? 1 : 0));
    if (closing) return;
    // Later sends do not wait, either.
    const ucs_status_ptr_t late =
        ucp_stream_send_nbx(in.ep_handle(), data.data(), 10, sent[2].on_send());
    in.settle();
    CHECK((late == UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET) ||
           sent[2].status == UCS_ERR_CONNECTION_RESET));
}

TEST_CASE("bytes that arrived before the peer closed are kept for a smaller receive") {
    raw_world in(settings{});
    in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(60, std::byte{7}));
    in.peer_closes();
    std::vector<std::byte> buffer(100);
    std::size_t length = 0;
    completion_record done;
    CHECK(read_all(in, buffer, length, done) == UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET));
    buffer.resize(60);
    CHECK(read_all(in, buffer, length, done) == nullptr);
    CHECK(length == 60);
    CHECK(buffer == std::vector<std::byte>(60, std::byte{7}));
}

TEST_CASE("an endpoint that closes without having read tells the peer that it does not read") {
    // The endpoint's own send waits for the peer, which may send a stream first.
    completion_record sent;
    completion_record closed;
    raw_world in(settings{});
    in.send_sync(std::vector<std::byte>(10), sent);
    const auto close = [&] {
        REQUIRE(UCS_PTR_IS_PTR(ucp_ep_close_nbx(in.ep_handle(), closed.on_send())));
        in.settle();
    };
    const auto messages = [&] {
        return in.peer.received<wire::stream_credit_header>(wire::stream_credit).size();
    };
    SECTION("at once") {
        close();
        CHECK(messages() == 1);
    }
    SECTION("after a receive that still waits") {
        std::vector<std::byte> buffer(100);
        std::size_t length = 0;
        completion_record done;
        REQUIRE(UCS_PTR_IS_PTR(read_all(in, buffer, length, done)));
        close();
        CHECK(messages() == 0);
        in.deliver(wire::stream_data, in.ep_id(), std::vector<std::byte>(100, std::byte{7}));
        CHECK(done.status == UCS_OK);
        // first new credits, because it had begun to read, and then no_reader
        CHECK(messages() == 2);
    }
    CHECK(in.peer.received<wire::stream_credit_header>(wire::stream_credit).back().limit ==
          wire::no_reader);
}

TEST_CASE("a stream send fails if the peer has said before that it does not read") {
    raw_world in(settings{});
    in.deliver(wire::stream_credit, wire::stream_credit_header{in.ep_id(), wire::no_reader});
    const std::vector<std::byte> data(wire::first_stream_window + 1000);
    completion_record sent;
    const ucs_status_ptr_t send =
        ucp_stream_send_nbx(in.ep_handle(), data.data(), data.size(), sent.on_send());
    in.settle();
    CHECK((send == UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET) ||
           sent.status == UCS_ERR_CONNECTION_RESET));
}

TEST_CASE("streams at endpoints that the program has not asked for are limited") {
    raw_world in(settings{});
    const test::log_capture log;
    constexpr std::size_t piece = 8000;
    constexpr std::size_t each = wire::first_stream_window / piece * piece;
    slot_of<ucp::worker_streams>(*in.worker).unread.set_most(3 * each);
    // Makes an endpoint here, and sends as much as its window allows.
    std::uint64_t connected = 0;
    const auto fill_one = [&] {
        ++connected;
        in.deliver(wire::wireup_type::request, 100 + connected, connected);
        const auto replies = in.peer.connection_messages();
        for (std::size_t sent = 0; sent < each; sent += piece) {
            in.deliver(wire::stream_data, wire::stream_data_header{replies.back().ep},
                       std::vector<std::byte>(piece));
        }
        return replies.back().ep;
    };
    // The program's own endpoint is not counted.
    in.deliver(wire::stream_data, wire::stream_data_header{in.ep_id()},
               std::vector<std::byte>(piece));
    CHECK(slot_of<ucp::worker_streams>(*in.worker).unread.used() == 0);
    const std::uint64_t first = fill_one();
    CHECK(slot_of<ucp::worker_streams>(*in.worker).unread.used() >= each);
    // When the program makes the endpoint, it is read like any other.
    ucp::ep& made = ucp::capi::from(in.make_ep());
    REQUIRE(made.id() == first);
    CHECK(opened_stream_of(made)->stored() == each);
    CHECK(slot_of<ucp::worker_streams>(*in.worker).unread.used() == 0);
    fill_one();
    fill_one();
    CHECK(in.ep().failure() == UCS_OK);
    fill_one();
    CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(slot_of<ucp::worker_streams>(*in.worker).unread.used() == 0);
    CHECK(log.count("that the program has not asked for", ucs::log::level::warn) == 1);
    // Streams of the program's endpoints can still be read.
    CHECK(opened_stream_of(made)->stored() == each);
}
