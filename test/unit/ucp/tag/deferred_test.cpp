// A sender that may not announce more, and a receiver of such a one, each with a peer that is
// played by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/rndv/wire.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using wire::wireup_type;

constexpr std::size_t most = 4;
constexpr std::size_t large = 200;  // is announced
const settings small{{"RNDV_THRESH", "100"}, {"UNEXPECTED_ANNOUNCEMENTS", std::to_string(most)}};

std::size_t count_of(const raw_world& in, wire::id id) {
    return in.peer.received<std::byte>(id).size();
}

// Sends with the tags 0, 1 and so on.
class sender {
public:
    explicit sender(raw_world& in) : in_(in) {}
    // What has not ended ends now, and is told here.
    ~sender() { in_.worker.reset(); }
    sender(const sender&) = delete;
    sender& operator=(const sender&) = delete;

    told& send(ucp_ep_h to, std::size_t length) {
        told& end = ends_.emplace_back();
        const ucp_request_param_t param = end.on_send();
        const ucs_status_ptr_t sending =
            ucp_tag_send_nbx(to, data_.data(), length, ends_.size() - 1, &param);
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
    [[nodiscard]] const told& operator[](std::size_t tag) const { return ends_[tag]; }
    [[nodiscard]] void* last() const noexcept { return last_; }

private:
    raw_world& in_;
    std::vector<std::byte> data_ = std::vector<std::byte>(large);
    std::deque<told> ends_;
    void* last_ = nullptr;
};

std::vector<wire::rts_header> announced(const raw_world& in) {
    return in.peer.received<wire::rts_header>(wire::rndv_rts);
}

// The peer has received that message.
void answer(raw_world& in, std::size_t tag) {
    for (const wire::rts_header& each : announced(in)) {
        if (each.what != tag) continue;
        in.peer.send(wire::rndv_ats, wire::ats_header{each.request, UCS_OK, 0, 0});
        in.settle();
        return;
    }
    FAIL("it was not announced");
}

void ask_for_more(raw_world& in, std::uint64_t over, std::uint64_t round) {
    in.peer.send(wire::rndv_more, wire::more_header{over, round});
    in.settle();
}

// One more endpoint of the worker, and the peer's other half of it.
constexpr std::uint64_t other_peer_ep = 88;
ucp_ep_h connect_other(raw_world& in, ucp_err_handling_mode_t mode = UCP_ERR_HANDLING_MODE_NONE) {
    ucp::ep_params how;
    how.error_mode = mode;
    const ucp_ep_h other = ucp::capi::handle(**in.worker->create_ep(in.peer.address().data(), how));
    const ucp_request_param_t plain{};
    const ucs_status_ptr_t flushing = ucp_ep_flush_nbx(other, &plain);
    if (UCS_PTR_IS_PTR(flushing)) ucp_request_free(flushing);
    ucp::capi::from(other).handle(ucp::wireup::event::use);
    in.settle();
    const auto asked = in.peer.received<wire::wireup_header>(wire::wireup).back();
    REQUIRE(asked.type == wireup_type::request);
    in.peer.send(
        wire::wireup,
        wire::wireup_header{
            wireup_type::reply, {}, in.peer.uid(), in.worker->uid(), other_peer_ep, asked.ep},
        in.peer.address());
    in.settle();
    return other;
}

bool is_in_order(const raw_world& in) {
    const auto list = announced(in);
    return std::is_sorted(list.begin(), list.end(),
                          [](const auto& a, const auto& b) { return a.what < b.what; });
}

// An announcement of the peer's.
void announce(raw_world& in, std::uint64_t tag, std::uint32_t stopped) {
    in.peer.send(wire::rndv_rts, wire::rts_header{tag, large, in.ep_id(), tag + 1, 0, 0, stopped});
    in.settle();
}

void* start_receive(raw_world& in, ucp_tag_t tag, ucp_tag_t mask, std::uint32_t attributes = 0) {
    static std::byte into[large];
    static told ignored;
    ucp_request_param_t param = ignored.on_recv();
    param.op_attr_mask |= attributes;
    return ucp_tag_recv_nbx(in.worker_handle(), into, sizeof into, tag, mask, &param);
}

void* post(raw_world& in, ucp_tag_t tag, ucp_tag_t mask, std::uint32_t attributes = 0) {
    void* const posted = start_receive(in, tag, mask, attributes);
    in.settle();
    return posted;
}

}  // namespace

TEST_CASE("tag sends beyond the limit wait, in order, and go on with each answer") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), 6);
    const told& eager = from.send(in.ep_handle(), 8);
    from.send_many(in.ep_handle(), 1);
    const auto first = announced(in);
    REQUIRE(first.size() == most);
    for (std::size_t i = 0; i + 1 < most; ++i)
        CHECK(first[i].stopped == 0);
    CHECK(first.back().stopped != 0);
    CHECK(in.worker->deferred_count() == 4);
    CHECK(count_of(in, wire::eager_only) == 0);

    answer(in, 2);
    REQUIRE(announced(in).size() == most + 1);
    CHECK(announced(in).back().stopped == first.back().stopped);
    answer(in, 0);
    CHECK(announced(in).size() == most + 2);
    CHECK(count_of(in, wire::eager_only) == 0);
    CHECK(eager.times == 0);
    answer(in, 1);
    CHECK(count_of(in, wire::eager_only) == 1);
    CHECK(eager.times == 1);
    CHECK(announced(in).size() == most + 3);
    CHECK(is_in_order(in));
    CHECK(in.worker->deferred_count() == 0);
    for (const std::size_t tag : {3U, 4U, 5U, 7U})
        answer(in, tag);
    CHECK(in.worker->requests().in_use() == 0);
    // It is as it was: small messages go at once.
    CHECK(from.send(in.ep_handle(), 8).status == UCS_OK);
}

TEST_CASE("a request for the data is an answer, too") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), most + 1);
    REQUIRE(announced(in).size() == most);
    in.peer.send(wire::rndv_rtr,
                 wire::rtr_header{announced(in)[1].request, 5, 0, 0, in.ep_id(), 0});
    in.settle();
    CHECK(announced(in).size() == most + 1);
    CHECK(from[1].status == UCS_OK);
}

TEST_CASE("nothing but tag sends is deferred") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), most + 1);
    const ucp_request_param_t plain{};
    std::byte data[8]{};
    REQUIRE(ucp_am_send_nbx(in.ep_handle(), 1, nullptr, 0, data, 8, &plain) == nullptr);
    REQUIRE(ucp_stream_send_nbx(in.ep_handle(), data, 8, &plain) == nullptr);
    in.settle();
    CHECK(count_of(in, wire::am_only) == 1);
    CHECK(count_of(in, wire::stream_data) == 1);
    CHECK(in.worker->deferred_count() == 1);
}

TEST_CASE("a receiver that asks for more has another batch, once for each time it was told") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), 3 * most);
    const std::uint32_t round = announced(in).back().stopped;
    ask_for_more(in, in.ep_id(), round + 1);
    ask_for_more(in, in.ep_id() + 1, round);
    ask_for_more(in, in.ep_id(), std::uint64_t{1} << 32 | round);
    CHECK(announced(in).size() == most);
    ask_for_more(in, in.ep_id(), round);
    ask_for_more(in, in.ep_id(), round);
    REQUIRE(announced(in).size() == 2 * most);
    for (std::size_t i = most; i + 1 < 2 * most; ++i)
        CHECK(announced(in)[i].stopped == 0);
    CHECK(announced(in).back().stopped != 0);
    CHECK(announced(in).back().stopped != round);
    ask_for_more(in, in.ep_id(), announced(in).back().stopped);
    CHECK(announced(in).size() == 3 * most);
    CHECK(is_in_order(in));
}

TEST_CASE("endpoints to one worker share the limit, and wait in one row") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in);
    sender from(in);
    for (std::size_t i = 0; i < most; ++i) {
        from.send_many(in.ep_handle(), 1);
        from.send_many(other, 1);
    }
    REQUIRE(announced(in).size() == most);
    CHECK(from.send(other, 8).times == 0);
    ask_for_more(in, ucp::capi::from(other).id(), announced(in).back().stopped);
    REQUIRE(announced(in).size() == 2 * most);
    CHECK(is_in_order(in));
    answer(in, 0);
    CHECK(count_of(in, wire::eager_only) == 1);
}

TEST_CASE("a send is not canceled while it is deferred, as little as any other one") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), most + 1);
    ucp_request_cancel(in.worker_handle(), from.last());
    in.settle();
    CHECK(from[most].times == 0);
    answer(in, 0);
    answer(in, most);
    CHECK(from[most].status == UCS_OK);
}

TEST_CASE("a flush waits for deferred sends") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), most);
    from.send(in.ep_handle(), 8);
    told flushed;
    const ucp_request_param_t param = flushed.on_send();
    const bool whole = GENERATE(false, true);
    const ucs_status_ptr_t flushing = whole ? ucp_worker_flush_nbx(in.worker_handle(), &param)
                                            : ucp_ep_flush_nbx(in.ep_handle(), &param);
    REQUIRE(UCS_PTR_IS_PTR(flushing));
    for (std::size_t tag = 0; tag < most; ++tag) {
        CHECK(flushed.times == 0);
        answer(in, tag);
    }
    CHECK(count_of(in, wire::eager_only) == 1);
    CHECK(flushed.status == UCS_OK);
}

TEST_CASE("closing by force ends deferred sends, and those of another endpoint go on") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in);
    sender from(in);
    from.send_many(in.ep_handle(), most + 2);
    from.send_many(other, 3);
    from.send(other, 8);
    REQUIRE(announced(in).size() == most);
    in.close_by_force();
    in.settle();
    for (std::size_t tag = 0; tag < most + 2; ++tag)
        CHECK(from[tag].status == UCS_ERR_CANCELED);
    REQUIRE(announced(in).size() == most + 3);
    CHECK(announced(in)[most].what == most + 2);
    CHECK(announced(in)[most].ep == other_peer_ep);
    CHECK(count_of(in, wire::eager_only) == 1);
    CHECK(in.worker->deferred_count() == 0);
}

TEST_CASE("when the endpoint of the deferred sends alone is closed, the short way opens again") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in);
    sender from(in);
    from.send_many(in.ep_handle(), most);
    from.send_many(other, 2);
    REQUIRE(in.worker->deferred_count() == 2);
    raw_world::close_by_force(other);
    in.settle();
    CHECK(from[most].status == UCS_ERR_CANCELED);
    CHECK(announced(in).size() == most);
    CHECK(from.send(in.ep_handle(), 8).status == UCS_OK);
    in.settle();
    CHECK(count_of(in, wire::eager_only) == 1);
}

TEST_CASE("deferred sends end with the error when the peer is gone") {
    raw_world in(small);
    const auto mode = GENERATE(UCP_ERR_HANDLING_MODE_NONE, UCP_ERR_HANDLING_MODE_PEER);
    const ucp_ep_h other = connect_other(in, mode);
    sender from(in);
    from.send_many(other, most + 2);
    in.network.fail_after(*in.network.find_node(in.worker->uid()),
                          *in.network.find_node(in.peer.uid()), 0);
    in.settle();
    for (std::size_t tag = 0; tag < most + 2; ++tag) {
        CHECK(from[tag].times == 1);
        CHECK(from[tag].status != UCS_OK);
    }
    CHECK(in.worker->deferred_count() == 0);
}

TEST_CASE("deferred sends end when the peer closes an endpoint with error handling") {
    raw_world in(small);
    const ucp_ep_h other = connect_other(in, UCP_ERR_HANDLING_MODE_PEER);
    sender from(in);
    from.send_many(other, most + 1);
    from.send_many(in.ep_handle(), 1);
    in.peer.send(wire::wireup, wire::wireup_header{wireup_type::close,
                                                   {},
                                                   in.peer.uid(),
                                                   in.worker->uid(),
                                                   other_peer_ep,
                                                   ucp::capi::from(other).id()});
    in.settle();
    for (std::size_t tag = 0; tag < most + 1; ++tag)
        CHECK(from[tag].status == UCS_ERR_CONNECTION_RESET);
    CHECK(announced(in).back().what == most + 1);
}

TEST_CASE("a worker is destroyed with sends that are deferred") {
    raw_world in(small);
    sender from(in);
    from.send_many(in.ep_handle(), most + 2);
    in.worker.reset();
    for (std::size_t tag = 0; tag < most + 2; ++tag)
        CHECK(from[tag].status == UCS_ERR_CANCELED);
}

TEST_CASE("a receive that finds nothing asks the sender that has stopped for more, once") {
    raw_world in(small);
    announce(in, 1, 0);
    announce(in, 2, 9);
    CHECK(count_of(in, wire::rndv_more) == 0);
    const bool masked = GENERATE(false, true);
    CHECK(UCS_PTR_IS_PTR(masked ? post(in, 4, 4) : post(in, 7, ~ucp_tag_t{0})));
    const auto asked = in.peer.received<wire::more_header>(wire::rndv_more);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].ep == raw_world::peer_ep);
    CHECK(asked[0].stopped == 9);
    CHECK(UCS_PTR_IS_PTR(post(in, 8, ~ucp_tag_t{0})));
    CHECK(count_of(in, wire::rndv_more) == 1);
    // While receives wait each round is asked for at once, also when one of them is served.
    announce(in, 3, 9);
    CHECK(count_of(in, wire::rndv_more) == 1);
    announce(in, 3, 10);
    CHECK(count_of(in, wire::rndv_more) == 2);
    announce(in, 8, 11);
    CHECK(count_of(in, wire::rndv_more) == 3);
    CHECK(in.peer.received<wire::more_header>(wire::rndv_more).back().stopped == 11);
}

TEST_CASE("receives that find their message ask for nothing") {
    raw_world in(small);
    announce(in, 1, 0);
    announce(in, 2, 9);
    CHECK(UCS_PTR_IS_PTR(post(in, 2, ~ucp_tag_t{0})));
    ucp_tag_recv_info_t info;
    CHECK(ucp_tag_probe_nb(in.worker_handle(), 1, 1, 0, &info) != nullptr);
    in.settle();
    CHECK(count_of(in, wire::rndv_more) == 0);
    CHECK(in.worker->matcher().expected_count() == 0);
}

TEST_CASE("a probe that finds nothing asks for more, and so does a receive that may not wait") {
    raw_world in(small);
    announce(in, 1, 9);
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

TEST_CASE("what a receiver asks for waits for room on its lane, and is the newest round then") {
    uct::sim::parameters network;
    network.tx_window = 4;
    raw_world in(small, network);
    const ucp_request_param_t plain{};
    ucs_status_ptr_t sending = nullptr;
    while (sending == nullptr)
        sending = ucp_am_send_nbx(in.ep_handle(), 1, nullptr, 0, nullptr, 0, &plain);
    REQUIRE(UCS_PTR_IS_PTR(sending));
    ucp_request_free(sending);
    ucp::peer& peer = in.ep().remote();
    peer.stopped(raw_world::peer_ep, 9);
    CHECK(UCS_PTR_IS_PTR(start_receive(in, 7, ~ucp_tag_t{0})));
    peer.stopped(raw_world::peer_ep, 10);
    CHECK(UCS_PTR_IS_PTR(start_receive(in, 8, ~ucp_tag_t{0})));
    in.settle();
    const auto asked = in.peer.received<wire::more_header>(wire::rndv_more);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].stopped == 10);
}

TEST_CASE("an announcement over an endpoint that is closed here is no stop") {
    raw_world in(small);
    in.close_by_force();
    announce(in, 1, 9);
    CHECK(UCS_PTR_IS_PTR(post(in, 7, ~ucp_tag_t{0})));
    CHECK(count_of(in, wire::rndv_more) == 0);
    CHECK(in.peer.received<wire::ats_header>(wire::rndv_ats).size() == 1);
}
