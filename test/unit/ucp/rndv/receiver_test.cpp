// Tests of rendezvous with a peer that aborts it at any point, or sends invalid requests.
#include "ucp/rndv/receiver.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/rma/wire.hpp"
#include "ucp/wireup/connection.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;

constexpr std::size_t length = 1 << 20;

// Both sides, by default on one host, may read and write each other's memory.
raw_world reading(uct::scope reach = uct::scope::host) {
    return raw_world({{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "get_zcopy"}}, {.reach = reach});
}

// Starts a send and returns its id.
std::uint64_t start_send(raw_world& in, const std::vector<std::byte>& data,
                         completion_record& sent) {
    REQUIRE(
        UCS_PTR_IS_PTR(ucp_tag_send_nbx(in.ep_handle(), data.data(), length, 1, sent.on_send())));
    in.settle();
    const auto messages = in.peer.received<wire::rts_header>(wire::rndv_rts, 1);
    return messages[0].request;
}

// Starts a receive that reads one half and waits for the peer to write the other half. Returns the
// data request.
wire::rtr_header start_split(raw_world& in, std::vector<std::byte>& into,
                             const std::vector<std::byte>& from, completion_record& received) {
    in.post_receive(into, received);
    in.deliver(wire::rndv_rts, rts_of(from, in.ep_id()));
    const auto request = in.peer.received<wire::rtr_header>(wire::rndv_rtr, 1);
    REQUIRE(request[0].address != 0);
    CHECK(request[0].ep == raw_world::peer_ep);
    return request[0];
}

}  // namespace

TEST_CASE("a request to write for a send that is gone is answered with an error") {
    // Regression: the receive waited for the sender's half for ever. The endpoint of the send may
    // be gone as well.
    raw_world in = reading();
    const bool endpoint_is_gone = GENERATE(false, true);
    std::vector<std::byte> buffer(length);
    in.deliver(wire::rndv_rtr,
               wire::rtr_header{123, 4, reinterpret_cast<std::uint64_t>(buffer.data()), 4096,
                                in.ep_id() + (endpoint_is_gone ? 1 : 0), in.peer.uid()});
    const auto answers = in.peer.received<wire::atp_header>(wire::rndv_atp, 1);
    CHECK(answers[0].reply == 4);
    CHECK(answers[0].status == UCS_ERR_CANCELED);
}

TEST_CASE("a send that is aborted while it writes a part reports the end of the writing") {
    raw_world in = reading();
    const bool by_us = GENERATE(true, false);
    const std::vector<std::byte> data(length, std::byte{1});
    std::vector<std::byte> buffer(length);
    completion_record sent;
    const std::uint64_t send = start_send(in, data, sent);
    in.peer.send(wire::rndv_rtr,
                 wire::rtr_header{send, 4, reinterpret_cast<std::uint64_t>(buffer.data()), 0,
                                  in.ep_id(), 0});
    if (!by_us)
        in.peer.send(wire::rndv_ats, wire::ats_header{send, UCS_ERR_CONNECTION_RESET, 0, 0});
    in.handle_arrivals();
    if (by_us) in.close_by_force();
    CHECK(sent.times == 0);  // the send's memory is still read
    CHECK(in.peer.received<wire::atp_header>(wire::rndv_atp).empty());
    in.settle();
    CHECK(in.peer.received<wire::atp_header>(wire::rndv_atp).size() == 1);
    CHECK(sent.times == 1);
    CHECK(sent.status == (by_us ? UCS_ERR_CANCELED : UCS_ERR_CONNECTION_RESET));
}

TEST_CASE("a send that writes everything ends when it has notified the receiver") {
    raw_world in = reading();
    const std::vector<std::byte> data(length, std::byte{1});
    std::vector<std::byte> buffer(length);
    completion_record sent;
    const std::uint64_t send = start_send(in, data, sent);
    in.deliver(wire::rndv_rtr,
               wire::rtr_header{send, 4, reinterpret_cast<std::uint64_t>(buffer.data()), 0,
                                in.ep_id(), 0});
    const auto answers = in.peer.received<wire::atp_header>(wire::rndv_atp, 1);
    CHECK(answers[0].status == UCS_OK);
    CHECK(sent.status == UCS_OK);
    CHECK(sent.times == 1);
    CHECK(buffer == data);
}

TEST_CASE("wrong data requests are rejected with one line, and the send continues") {
    raw_world in = reading();
    const std::vector<std::byte> data(length);
    completion_record sent;
    const std::uint64_t send = start_send(in, data, sent);
    const test::log_capture log;
    in.deliver(wire::rndv_rtr, wire::rtr_header{send, 4, 0, 0, in.ep_id() + 1, 0});
    CHECK(log.count("was not announced on that endpoint", ucs::log::level::warn) == 1);
    std::vector<std::byte> buffer(length);
    const auto place = reinterpret_cast<std::uint64_t>(buffer.data());
    in.peer.send(wire::rndv_rtr, wire::rtr_header{send, 4, place, 4096, in.ep_id(), 0});
    in.peer.send(wire::rndv_rtr, wire::rtr_header{send, 5, 0, 0, in.ep_id(), 0});
    in.peer.send(wire::rndv_ats, wire::ats_header{send, UCS_OK, 0, 0});
    in.handle_arrivals();
    CHECK(log.count("being written already", ucs::log::level::warn) == 1);
    CHECK(log.count("still being written", ucs::log::level::warn) == 1);
    in.settle();
    CHECK(sent.times == 0);
    in.deliver(wire::rndv_ats, wire::ats_header{send, UCS_OK, 0, 0});
    CHECK(sent.status == UCS_OK);
}

TEST_CASE("an aborted receive ends when the peer writes into it no more") {
    raw_world in = reading();
    enum class end { it_says_so, it_dies };
    const end ending = GENERATE(end::it_says_so, end::it_dies);
    const std::vector<std::byte> from(length, std::byte{1});
    std::vector<std::byte> into(length);
    completion_record received;
    const wire::rtr_header request = start_split(in, into, from, received);
    in.close_by_force();
    in.peer_closes();
    CHECK(received.times == 0);
    CHECK(in.worker->endpoints().size() == 0);
    if (ending == end::it_says_so) {
        in.peer.send(wire::rndv_atp, wire::atp_header{request.reply, UCS_ERR_CANCELED});
    } else {
        in.network.kill(in.peer.uid());
    }
    in.settle();
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_CANCELED);
    CHECK(ucp::slot_of<ucp::request_ids>(*in.worker).receives.size() == 0);
    CHECK(in.worker->peers().size() == 0);
}

TEST_CASE("a receive whose sender aborts a requested write ends with an error") {
    raw_world in = reading();
    const std::vector<std::byte> from(length, std::byte{1});
    std::vector<std::byte> into(length);
    completion_record received;
    const wire::rtr_header request = start_split(in, into, from, received);
    in.deliver(wire::rndv_atp, wire::atp_header{request.reply, UCS_ERR_CANCELED});
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("a rendezvous message that was probed before its sender closed cannot be received") {
    // Regression: the data was requested, and no reply came.
    raw_world in = reading();
    in.deliver(wire::rndv_rts, wire::rts_header{1, length, in.ep_id(), 9, 0, 0});
    ucp_tag_recv_info_t info{};
    const ucp_tag_message_h taken = ucp_tag_probe_nb(in.worker_handle(), 0, 0, 1, &info);
    REQUIRE(taken != nullptr);
    in.peer_closes();
    std::vector<std::byte> into(length);
    const test::log_capture log;
    CHECK(ucp_tag_msg_recv_nbx(in.worker_handle(), into.data(), length, taken, &plain) ==
          UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET));
    CHECK(log.count("announced by a peer that is gone", ucs::log::level::warn) == 1);
}

TEST_CASE("an endpoint that both sides have closed starts no operation") {
    // The endpoint lives on until the next slow turn, or for its final message, and no receive may
    // wait for it.
    raw_world in = reading();
    std::vector<std::byte> into(length);
    completion_record received;
    void* const receive = in.post_receive(into, received);
    // The program has not asked for this endpoint, so the peer's close ends it.
    constexpr std::uint64_t other = raw_world::peer_ep + 1;
    const auto connection_message = [&](wire::wireup_type type, std::uint64_t last) {
        in.peer.send(type, other, last);
    };
    connection_message(wire::wireup_type::request, 5);
    in.settle();
    const std::uint64_t made = in.peer.connection_messages().back().ep;
    REQUIRE(made != in.ep_id());
    connection_message(wire::wireup_type::close, made);
    in.peer.send(wire::rndv_rts, wire::rts_header{1, length, made, 9, 0, 0});
    in.peer.send(wire::rma_get, wire::get_header{made, 1, 2, 0, 10, 3});
    in.handle_arrivals();
    in.settle();
    CHECK(in.worker->endpoints().size() == 1);
    CHECK(in.peer.received<wire::rtr_header>(wire::rndv_rtr).empty());
    CHECK(in.peer.received<wire::result_header>(wire::rma_result).empty());
    CHECK(received.times == 0);
    ucp_request_cancel(in.worker_handle(), receive);
    in.settle();
    CHECK(received.times == 1);
}

TEST_CASE(
    "an endpoint in error handling mode PEER confirms that its send still ran when it was read") {
    const auto mode = GENERATE(UCP_ERR_HANDLING_MODE_NONE, UCP_ERR_HANDLING_MODE_PEER);
    raw_world in = reading();
    ucp::ep_params params;
    params.error_mode = mode;
    ucp::wireup::adopt(in.ep(), params);
    const std::vector<std::byte> data(length);
    completion_record sent;
    const std::uint64_t send = start_send(in, data, sent);
    const auto rts_messages = in.peer.received<wire::rts_header>(wire::rndv_rts);
    CHECK(rts_messages[0].address == reinterpret_cast<std::uint64_t>(data.data()));
    CHECK((rts_messages[0].flags == wire::rts_confirm) == (mode == UCP_ERR_HANDLING_MODE_PEER));
    in.peer.send(wire::rndv_ats, wire::ats_header{send, UCS_OK, 5, in.ep_id()});
    in.deliver(wire::rndv_ats, wire::ats_header{send, UCS_OK, 6, in.ep_id()});
    CHECK(sent.times == 1);
    CHECK(sent.status == UCS_OK);
    const auto answers = in.peer.received<wire::atp_header>(wire::rndv_atp, 2);
    CHECK(answers[0].reply == 5);
    CHECK(answers[0].status == UCS_OK);
    CHECK(answers[1].reply == 6);
    CHECK(answers[1].status == UCS_ERR_CANCELED);  // the send was gone
}

TEST_CASE("a receive waits for confirmation if the memory that it read may have been reused") {
    raw_world in = reading();
    enum class end { confirmed, broken_off, closed };
    const end ending = GENERATE(end::confirmed, end::broken_off, end::closed);
    const std::vector<std::byte> from(100, std::byte{1});
    std::vector<std::byte> into(100);
    completion_record received;
    in.post_receive(into, received);
    in.deliver(wire::rndv_rts, rts_of(from, in.ep_id(), wire::rts_confirm));
    const auto request = in.peer.received<wire::ats_header>(wire::rndv_ats, 1);
    CHECK(request[0].request == 9);
    CHECK(request[0].ep == raw_world::peer_ep);
    CHECK(request[0].reply != 0);
    CHECK(received.times == 0);
    if (ending == end::closed) {
        in.close_by_force();
    } else {
        const ucs_status_t answer = ending == end::confirmed ? UCS_OK : UCS_ERR_CANCELED;
        in.peer.send(wire::rndv_atp, wire::atp_header{request[0].reply, answer});
    }
    in.settle();
    CHECK(received.times == 1);
    const std::array statuses{UCS_OK, UCS_ERR_CONNECTION_RESET, UCS_ERR_CANCELED};
    CHECK(received.status == statuses[static_cast<std::size_t>(ending)]);
    CHECK(into == from);
    CHECK(ucp::slot_of<ucp::request_ids>(*in.worker).receives.size() == 0);
}

TEST_CASE("a part that the sender could not write is read, and later messages are read as well") {
    // Regression: the whole message was requested again, and this peer's memory was never read
    // again.
    raw_world in = reading();
    std::vector<std::byte> from(length);
    for (std::size_t i = 0; i < length; ++i)
        from[i] = static_cast<std::byte>(i * 7 + i / 4096);
    std::vector<std::byte> into(length);
    completion_record received;
    const wire::rtr_header request = start_split(in, into, from, received);
    in.deliver(wire::rndv_atp, wire::atp_header{request.reply, UCS_ERR_UNSUPPORTED});
    CHECK(received.status == UCS_OK);
    CHECK(into == from);
    const auto ended = in.peer.received<wire::ats_header>(wire::rndv_ats, 1);
    CHECK(ended[0].status == UCS_OK);
    CHECK(in.peer.received<wire::rtr_header>(wire::rndv_rtr).size() == 1);
    CHECK(in.ep().remote().lanes().rma() != nullptr);
}

TEST_CASE("the sender writes no part if its connection can be lost while it lives") {
    raw_world in = reading(uct::scope::network);
    const std::vector<std::byte> from(length, std::byte{1});
    std::vector<std::byte> into(length);
    completion_record received;
    in.post_receive(into, received);
    in.deliver(wire::rndv_rts, rts_of(from, in.ep_id()));
    CHECK(in.peer.received<wire::rtr_header>(wire::rndv_rtr).empty());
    CHECK(received.status == UCS_OK);
    CHECK(into == from);
}

TEST_CASE("a receive that waits for the peer's part ends with its worker") {
    raw_world in = reading();
    const bool closed_before = GENERATE(true, false);
    const std::vector<std::byte> from(length, std::byte{1});
    std::vector<std::byte> into(length);
    completion_record received;
    start_split(in, into, from, received);
    if (closed_before) in.close_by_force();
    in.worker.reset();
    CHECK(received.times == 1);
    CHECK(received.status == UCS_ERR_CANCELED);
}
