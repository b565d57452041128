// Limits on operations that wait for replies, on both sides.

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/rma/fixture.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/wire.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
namespace mem = ucp::mem;

std::size_t gets_of(const raw_world& in) {
    return in.peer.received<wire::get_header>(wire::rma_get).size();
}

std::size_t atomics_of(const raw_world& in) {
    return in.peer.received<wire::atomic_header>(wire::rma_atomic).size();
}

}  // namespace

TEST_CASE("the number of outstanding operations is limited, and the others wait", "[ucp][rma]") {
    constexpr std::size_t count = 2500;
    std::vector<completion_record> done(2 * count);
    std::vector<std::uint64_t> into(2 * count);
    raw_world in({}, without_memory_lanes());
    const auto key = key_to_peer(in);
    const ucp_rkey_h handle = ucp::capi::handle(*key);
    const std::uint64_t one = 1;
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(UCS_PTR_IS_PTR(
            ucp_get_nbx(in.ep_handle(), &into[2 * i], 8, 4096, handle, done[2 * i].on_send())));
        ucp_request_param_t* const atomic_params = done[2 * i + 1].on_send();
        atomic_params->op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER | UCP_OP_ATTR_FIELD_DATATYPE;
        atomic_params->reply_buffer = &into[2 * i + 1];
        atomic_params->datatype = ucp_dt_make_contig(8);
        REQUIRE(UCS_PTR_IS_PTR(ucp_atomic_op_nbx(in.ep_handle(), UCP_ATOMIC_OP_ADD, &one, 1, 4096,
                                                 handle, atomic_params)));
    }
    in.settle();
    CHECK(gets_of(in) + atomics_of(in) == wire::most_unanswered);
    SECTION("all operations end when the peer replies") {
        std::size_t gets = 0;
        std::size_t atomics = 0;
        while (gets + atomics < 2 * count) {
            const auto new_gets = in.peer.received<wire::get_header>(wire::rma_get);
            const auto new_atomics = in.peer.received<wire::atomic_header>(wire::rma_atomic);
            REQUIRE(new_gets.size() + new_atomics.size() > gets + atomics);
            REQUIRE(new_gets.size() + new_atomics.size() - gets - atomics <= wire::most_unanswered);
            for (unsigned burst = 0; gets < new_gets.size(); ++gets) {
                in.peer.send(wire::rma_data, wire::get_data_header{new_gets[gets].reply, 0},
                             std::vector<std::byte>(8, std::byte{1}));
                if (++burst % 8 == 0) in.settle();
            }
            in.settle();
            for (unsigned burst = 0; atomics < new_atomics.size(); ++atomics) {
                in.peer.send(wire::rma_result,
                             wire::result_header{new_atomics[atomics].reply, UCS_OK, 7});
                if (++burst % 8 == 0) in.settle();
            }
            in.settle();
        }
        for (const completion_record& each : done)
            REQUIRE((each.times == 1 && each.status == UCS_OK));
    }
    SECTION("all operations end when the endpoint is closed") {
        in.close_by_force();
        for (const completion_record& each : done)
            REQUIRE((each.times == 1 && each.status == UCS_ERR_CANCELED));
    }
}

TEST_CASE("only one confirmation is requested at a time", "[ucp][rma]") {
    std::vector<completion_record> flushed(3);
    raw_world in({}, without_memory_lanes());
    const auto key = key_to_peer(in);
    const std::uint64_t number = 1;
    for (completion_record& each : flushed) {
        REQUIRE(ucp_put_nbi(in.ep_handle(), &number, 8, 4096, ucp::capi::handle(*key)) >= UCS_OK);
        REQUIRE(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(in.ep_handle(), each.on_send())));
    }
    in.settle();
    const auto confirm_requests = [&] {
        return in.peer.received<wire::confirm_header>(wire::rma_confirm);
    };
    const auto confirm = [&] {
        in.deliver(wire::rma_confirmed,
                   wire::confirmed_header{in.ep_id(), confirm_requests().back().count, UCS_OK});
    };
    REQUIRE(confirm_requests().size() == 1);
    confirm();
    CHECK(flushed[0].times == 1);
    CHECK(flushed[2].times == 0);
    REQUIRE(confirm_requests().size() == 2);  // covers all messages sent meanwhile
    confirm();
    CHECK(flushed[2].status == UCS_OK);
    CHECK(confirm_requests().size() == 2);
}

TEST_CASE("a peer that requests replies and does not take them loses the endpoint, with a log line",
          "[ucp][rma]") {
    raw_world in({}, without_memory_lanes());
    std::vector<std::byte> bytes(4096);
    const auto made =
        mem::map(in.context->memories(), {.address = bytes.data(), .length = bytes.size()});
    REQUIRE(made.ok());
    const mem::credentials owner = (*made)->owner();
    const test::log_capture log;
    const unsigned kind = GENERATE(0U, 1U, 2U);
    const auto ask = [&] {
        if (kind == 0) {
            in.peer.send(wire::rma_get, wire::get_header{in.ep_id(), owner.id, owner.secret,
                                                         (*made)->address(), 8, 5});
        } else if (kind == 1) {
            in.peer.send(wire::rma_atomic,
                         wire::atomic_header{in.ep_id(), owner.id, owner.secret, (*made)->address(),
                                             1, 0, 5, UCP_ATOMIC_OP_ADD, 8});
        } else {
            in.peer.send(wire::rma_confirm, wire::confirm_header{in.ep_id(), 1});
        }
    };
    SECTION("not a peer that takes them") {
        for (unsigned i = 0; i < 3 * wire::most_unanswered; ++i) {
            ask();
            if (i % 8 == 0) in.settle();
        }
        in.settle();
        CHECK(in.ep().failure() == UCS_OK);
        CHECK(log.count("does not take the answers") == 0);
    }
    SECTION("as soon as there are too many") {
        // These replies wait in the lane.
        for (unsigned i = 0; i < wire::most_unanswered; ++i)
            REQUIRE(ucp::slot_of<ucp::owed_replies>(in.ep()).add());
        ask();
        in.settle();
        CHECK(in.ep().failure() == UCS_OK);
        REQUIRE(ucp::slot_of<ucp::owed_replies>(in.ep()).add());
        ask();
        in.settle();
        CHECK(in.ep().failure() == UCS_ERR_EXCEEDS_LIMIT);
        CHECK(log.count("does not take the answers") == 1);
        CHECK(in.peer.connection_messages().back().type == wire::wireup_type::failed);
    }
    in.context->memories().remove(**made);
}
