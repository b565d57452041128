// A sender at its RTS limit, and a receiver of such a sender. The test sends the other peer's
// messages itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/wire.hpp"
#include "ucp/tag/matcher.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using wire::wireup_type;

constexpr std::size_t limit = 4;
constexpr std::size_t large = 200;  // uses rendezvous
const settings small{{"RNDV_THRESH", "100"}, {"UNEXPECTED_ANNOUNCEMENTS", std::to_string(limit)}};

std::size_t count_of(const raw_world& in, wire::id id) {
    return in.peer.received<std::byte>(id).size();
}

// Sends messages with the tags 0, 1 and so on.
class sender {
public:
    explicit sender(raw_world& in) : in_(in) {}
    // Sends that have not ended end here, and are recorded.
    ~sender() { in_.worker.reset(); }
    sender(const sender&) = delete;
    sender& operator=(const sender&) = delete;

    completion_record& send(ucp_ep_h to, std::size_t length) {
        completion_record& end = ends_.emplace_back();
        const ucs_status_ptr_t sending =
            ucp_tag_send_nbx(to, data_.data(), length, ends_.size() - 1, end.on_send());
        REQUIRE(!UCS_PTR_IS_ERR(sending));
        if (sending == nullptr) end = {1, UCS_OK};
        last_ = sending;
        return end;
    }
    void send_many(ucp_ep_h to, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            send(to, large);
        in_.settle();
    }
    [[nodiscard]] const completion_record& operator[](std::size_t tag) const { return ends_[tag]; }
    [[nodiscard]] void* last() const noexcept { return last_; }

private:
    raw_world& in_;
    std::vector<std::byte> data_ = std::vector<std::byte>(large);
    std::deque<completion_record> ends_;
    void* last_ = nullptr;
};

std::vector<wire::rts_header> rts_messages(const raw_world& in) {
    return in.peer.received<wire::rts_header>(wire::rndv_rts);
}

// The peer replies that it has received this message.
void reply_to(raw_world& in, std::size_t tag) {
    for (const wire::rts_header& each : rts_messages(in)) {
        if (each.tag_or_id != tag) continue;
        in.deliver(wire::rndv_ats, wire::ats_header{each.request, UCS_OK, 0, 0});
        return;
    }
    FAIL("there is no RTS for this tag");
}

void request_more_rts(raw_world& in, std::uint64_t ep_id, std::uint64_t round) {
    in.deliver(wire::rndv_more, wire::more_header{ep_id, round});
}

// Makes another endpoint of the worker, and the peer's side of it.
constexpr std::uint64_t other_peer_ep = 88;
ucp_ep_h connect_other(raw_world& in, ucp_err_handling_mode_t mode = UCP_ERR_HANDLING_MODE_NONE) {
    ucp::ep_params params;
    params.error_mode = mode;
    const ucp_ep_h other =
        ucp::capi::handle(**ucp::wireup::create_ep(*in.worker, in.peer.address().data(), params));
    const ucs_status_ptr_t flushing = ucp_ep_flush_nbx(other, &plain);
    if (UCS_PTR_IS_PTR(flushing)) ucp_request_free(flushing);
    in.use(ucp::capi::from(other));
    const auto request = in.peer.connection_messages().back();
    REQUIRE(request.type == wireup_type::request);
    in.deliver(wireup_type::reply, other_peer_ep, request.ep);
    return other;
}

bool is_in_order(const raw_world& in) {
    const auto list = rts_messages(in);
    return std::is_sorted(list.begin(), list.end(),
                          [](const auto& a, const auto& b) { return a.tag_or_id < b.tag_or_id; });
}

// Sends an RTS of the peer.
void send_rts(raw_world& in, std::uint64_t tag, std::uint32_t stopped) {
    in.deliver(wire::rndv_rts, wire::rts_header{tag, large, in.ep_id(), tag + 1, 0, 0, stopped});
}

void* start_receive(raw_world& in, ucp_tag_t tag, ucp_tag_t mask, std::uint32_t attributes = 0) {
    static std::byte into[large];
    static completion_record ignored;
    ucp_request_param_t* const param = ignored.on_recv();
    param->op_attr_mask |= attributes;
    return ucp_tag_recv_nbx(in.worker_handle(), into, sizeof into, tag, mask, param);
}

void* post(raw_world& in, ucp_tag_t tag, ucp_tag_t mask, std::uint32_t attributes = 0) {
    void* const posted = start_receive(in, tag, mask, attributes);
    in.settle();
    return posted;
}

}  // namespace

TEST_CASE("tag sends beyond the limit wait in order, and each reply lets one of them go on") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), 6);
    const completion_record& eager = from.send(in.ep_handle(), 8);
    from.send_many(in.ep_handle(), 1);
    const auto first = rts_messages(in);
    REQUIRE(first.size() == limit);
    for (std::size_t i = 0; i + 1 < limit; ++i)
        CHECK(first[i].stopped == 0);
    CHECK(first.back().stopped != 0);
    CHECK(ucp::deferred_count(in.worker->peers()) == 4);
    CHECK(count_of(in, wire::eager_only) == 0);

    reply_to(in, 2);
    REQUIRE(rts_messages(in).size() == limit + 1);
    CHECK(rts_messages(in).back().stopped == first.back().stopped);
    reply_to(in, 0);
    CHECK(rts_messages(in).size() == limit + 2);
    CHECK(count_of(in, wire::eager_only) == 0);
    CHECK(eager.times == 0);
    reply_to(in, 1);
    CHECK(count_of(in, wire::eager_only) == 1);
    CHECK(eager.times == 1);
    CHECK(rts_messages(in).size() == limit + 3);
    CHECK(is_in_order(in));
    CHECK(ucp::deferred_count(in.worker->peers()) == 0);
    for (const std::size_t tag : {3U, 4U, 5U, 7U})
        reply_to(in, tag);
    CHECK(in.worker->requests().in_use() == 0);
    // After that, small messages are sent at once again.
    CHECK(from.send(in.ep_handle(), 8).status == UCS_OK);
}

TEST_CASE("a request for the data counts as a reply") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), limit + 1);
    REQUIRE(rts_messages(in).size() == limit);
    in.deliver(wire::rndv_rtr,
               wire::rtr_header{rts_messages(in)[1].request, 5, 0, 0, in.ep_id(), 0});
    CHECK(rts_messages(in).size() == limit + 1);
    CHECK(from[1].status == UCS_OK);
}

TEST_CASE("only tag sends are deferred") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), limit + 1);
    std::byte data[8]{};
    REQUIRE(ucp_am_send_nbx(in.ep_handle(), 1, nullptr, 0, data, 8, &plain) == nullptr);
    REQUIRE(ucp_stream_send_nbx(in.ep_handle(), data, 8, &plain) == nullptr);
    in.settle();
    CHECK(count_of(in, wire::am_only) == 1);
    CHECK(count_of(in, wire::stream_data) == 1);
    CHECK(ucp::deferred_count(in.worker->peers()) == 1);
}

TEST_CASE("a receiver that requests more gets another batch, once for each round") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), 3 * limit);
    const std::uint32_t round = rts_messages(in).back().stopped;
    request_more_rts(in, in.ep_id(), round + 1);
    request_more_rts(in, in.ep_id() + 1, round);
    request_more_rts(in, in.ep_id(), std::uint64_t{1} << 32 | round);
    CHECK(rts_messages(in).size() == limit);
    request_more_rts(in, in.ep_id(), round);
    request_more_rts(in, in.ep_id(), round);
    REQUIRE(rts_messages(in).size() == 2 * limit);
    for (std::size_t i = limit; i + 1 < 2 * limit; ++i)
        CHECK(rts_messages(in)[i].stopped == 0);
    CHECK(rts_messages(in).back().stopped != 0);
    CHECK(rts_messages(in).back().stopped != round);
    request_more_rts(in, in.ep_id(), rts_messages(in).back().stopped);
    CHECK(rts_messages(in).size() == 3 * limit);
    CHECK(is_in_order(in));
}

TEST_CASE("endpoints to one worker share the limit and one queue") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in);
    sender from(in);
    for (std::size_t i = 0; i < limit; ++i) {
        from.send_many(in.ep_handle(), 1);
        from.send_many(other, 1);
    }
    REQUIRE(rts_messages(in).size() == limit);
    CHECK(from.send(other, 8).times == 0);
    request_more_rts(in, ucp::capi::from(other).id(), rts_messages(in).back().stopped);
    REQUIRE(rts_messages(in).size() == 2 * limit);
    CHECK(is_in_order(in));
    reply_to(in, 0);
    CHECK(count_of(in, wire::eager_only) == 1);
}

TEST_CASE("a deferred send cannot be canceled, like any other send") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), limit + 1);
    ucp_request_cancel(in.worker_handle(), from.last());
    in.settle();
    CHECK(from[limit].times == 0);
    reply_to(in, 0);
    reply_to(in, limit);
    CHECK(from[limit].status == UCS_OK);
}

TEST_CASE("a flush waits for deferred sends") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), limit);
    from.send(in.ep_handle(), 8);
    completion_record flushed;
    const bool whole = GENERATE(false, true);
    const ucs_status_ptr_t flushing =
        whole ? ucp_worker_flush_nbx(in.worker_handle(), flushed.on_send())
              : ucp_ep_flush_nbx(in.ep_handle(), flushed.on_send());
    REQUIRE(UCS_PTR_IS_PTR(flushing));
    for (std::size_t tag = 0; tag < limit; ++tag) {
        CHECK(flushed.times == 0);
        reply_to(in, tag);
    }
    CHECK(count_of(in, wire::eager_only) == 1);
    CHECK(flushed.status == UCS_OK);
}

TEST_CASE("closing by force ends deferred sends, and the sends of another endpoint go on") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in);
    sender from(in);
    from.send_many(in.ep_handle(), limit + 2);
    from.send_many(other, 3);
    from.send(other, 8);
    REQUIRE(rts_messages(in).size() == limit);
    in.close_by_force();
    in.settle();
    for (std::size_t tag = 0; tag < limit + 2; ++tag)
        CHECK(from[tag].status == UCS_ERR_CANCELED);
    REQUIRE(rts_messages(in).size() == limit + 3);
    CHECK(rts_messages(in)[limit].tag_or_id == limit + 2);
    CHECK(rts_messages(in)[limit].ep == other_peer_ep);
    CHECK(count_of(in, wire::eager_only) == 1);
    CHECK(ucp::deferred_count(in.worker->peers()) == 0);
}

TEST_CASE("closing the only endpoint with deferred sends reopens the short path") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in);
    sender from(in);
    from.send_many(in.ep_handle(), limit);
    from.send_many(other, 2);
    REQUIRE(ucp::deferred_count(in.worker->peers()) == 2);
    raw_world::close_by_force(other);
    in.settle();
    CHECK(from[limit].status == UCS_ERR_CANCELED);
    CHECK(rts_messages(in).size() == limit);
    CHECK(from.send(in.ep_handle(), 8).status == UCS_OK);
    in.settle();
    CHECK(count_of(in, wire::eager_only) == 1);
}

TEST_CASE("deferred sends end with an error when the peer is gone") {
    raw_world in(small);
    const auto mode = GENERATE(UCP_ERR_HANDLING_MODE_NONE, UCP_ERR_HANDLING_MODE_PEER);
    const ucp_ep_h other = connect_other(in, mode);
    sender from(in);
    from.send_many(other, limit + 2);
    in.network.fail_after(*in.network.find_node(in.worker->uid()),
                          *in.network.find_node(in.peer.uid()), 0);
    in.settle();
    for (std::size_t tag = 0; tag < limit + 2; ++tag) {
        CHECK(from[tag].times == 1);
        CHECK(from[tag].status != UCS_OK);
    }
    CHECK(ucp::deferred_count(in.worker->peers()) == 0);
}

TEST_CASE("deferred sends end when the peer closes an endpoint with error handling") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in, UCP_ERR_HANDLING_MODE_PEER);
    sender from(in);
    from.send_many(other, limit + 1);
    from.send_many(in.ep_handle(), 1);
    in.deliver(wireup_type::close, other_peer_ep, ucp::capi::from(other).id(), {});
    for (std::size_t tag = 0; tag < limit + 1; ++tag)
        CHECK(from[tag].status == UCS_ERR_CONNECTION_RESET);
    CHECK(rts_messages(in).back().tag_or_id == limit + 1);
}

TEST_CASE("a worker can be destroyed while sends are deferred") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), limit + 2);
    in.worker.reset();
    for (std::size_t tag = 0; tag < limit + 2; ++tag)
        CHECK(from[tag].status == UCS_ERR_CANCELED);
}

TEST_CASE("a receive that finds no message requests more from the stopped sender, once") {
    raw_world in(small);
    send_rts(in, 1, 0);
    send_rts(in, 2, 9);
    CHECK(count_of(in, wire::rndv_more) == 0);
    const bool masked = GENERATE(false, true);
    CHECK(UCS_PTR_IS_PTR(masked ? post(in, 4, 4) : post(in, 7, ~ucp_tag_t{0})));
    const auto more_requests = in.peer.received<wire::more_header>(wire::rndv_more, 1);
    CHECK(more_requests[0].ep == raw_world::peer_ep);
    CHECK(more_requests[0].stopped == 9);
    CHECK(UCS_PTR_IS_PTR(post(in, 8, ~ucp_tag_t{0})));
    CHECK(count_of(in, wire::rndv_more) == 1);
    // While receives wait, each round is requested at once, even if one of the receives is matched.
    send_rts(in, 3, 9);
    CHECK(count_of(in, wire::rndv_more) == 1);
    send_rts(in, 3, 10);
    CHECK(count_of(in, wire::rndv_more) == 2);
    send_rts(in, 8, 11);
    CHECK(count_of(in, wire::rndv_more) == 3);
    CHECK(in.peer.received<wire::more_header>(wire::rndv_more).back().stopped == 11);
}

TEST_CASE("receives that find their message request nothing") {
    raw_world in(small);
    send_rts(in, 1, 0);
    send_rts(in, 2, 9);
    CHECK(UCS_PTR_IS_PTR(post(in, 2, ~ucp_tag_t{0})));
    ucp_tag_recv_info_t info;
    CHECK(ucp_tag_probe_nb(in.worker_handle(), 1, 1, 0, &info) != nullptr);
    in.settle();
    CHECK(count_of(in, wire::rndv_more) == 0);
    CHECK(slot_of<ucp::tag_matcher>(*in.worker).expected_count() == 0);
}

TEST_CASE("a probe that finds no message requests more, and so does an immediate receive") {
    raw_world in(small);
    send_rts(in, 1, 9);
    const bool probes = GENERATE(false, true);
    ucp_tag_recv_info_t info;
    if (probes) {
        CHECK(ucp_tag_probe_nb(in.worker_handle(), 2, ~ucp_tag_t{0}, 1, &info) == nullptr);
        in.settle();
    } else {
        CHECK(post(in, 2, ~ucp_tag_t{0}, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) ==
              UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE));
    }
    CHECK(count_of(in, wire::rndv_more) == 1);
}

TEST_CASE("a request for more waits for room on its lane, and then names the newest round") {
    raw_world in(small, {.tx_window = 4});
    ucs_status_ptr_t sending = nullptr;
    while (sending == nullptr)
        sending = ucp_am_send_nbx(in.ep_handle(), 1, nullptr, 0, nullptr, 0, &plain);
    REQUIRE(UCS_PTR_IS_PTR(sending));
    ucp_request_free(sending);
    ucp::peer& peer = in.ep().remote();
    ucp::slot_of<ucp::deferred_sends>(peer).on_peer_defers(raw_world::peer_ep, 9);
    CHECK(UCS_PTR_IS_PTR(start_receive(in, 7, ~ucp_tag_t{0})));
    ucp::slot_of<ucp::deferred_sends>(peer).on_peer_defers(raw_world::peer_ep, 10);
    CHECK(UCS_PTR_IS_PTR(start_receive(in, 8, ~ucp_tag_t{0})));
    in.settle();
    const auto more_requests = in.peer.received<wire::more_header>(wire::rndv_more, 1);
    CHECK(more_requests[0].stopped == 10);
}

TEST_CASE("an RTS for an endpoint that is closed here does not stop its sender") {
    raw_world in(small);
    in.close_by_force();
    send_rts(in, 1, 9);
    CHECK(UCS_PTR_IS_PTR(post(in, 7, ~ucp_tag_t{0})));
    CHECK(count_of(in, wire::rndv_more) == 0);
    CHECK(in.peer.received<wire::ats_header>(wire::rndv_ats).size() == 1);
}
