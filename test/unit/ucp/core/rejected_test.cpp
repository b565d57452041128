// Tests that a peer which keeps sending invalid messages does not fill the log.
#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/address/address.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/vfs/text.hpp"
#include "ucp/wireup/proof.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using namespace wire;

// A world with one send whose RTS waits for a reply.
struct scene : raw_world {
    scene() : raw_world({{"RNDV_THRESH", "0"}, {"RNDV_SCHEME", "am"}}) {
        REQUIRE(UCS_PTR_IS_PTR(
            ucp_tag_send_nbx(ep_handle(), data.data(), data.size(), 1, sent.on_send())));
        settle();
        const auto all = peer.received<wire::rts_header>(wire::rndv_rts, 1);
        send_id = all.front().request;
    }
    ~scene() {
        deliver(wire::rndv_ats, wire::ats_header{send_id, UCS_OK, 0, 0});
        CHECK(sent.times == 1);  // the invalid messages did not harm the send
    }
    [[nodiscard]] wireup_header connection_message(wireup_type type) const {
        return {type, {}, peer.uid(), worker->uid(), peer_ep, ep_id()};
    }

    std::vector<std::byte> data = std::vector<std::byte>(100);
    completion_record sent;
    std::uint64_t send_id = 0;
};

struct invalid_message {
    const char* name;
    std::function<void(scene&)> send;
};

std::vector<invalid_message> all_invalid_messages() {
    std::vector<invalid_message> list;
    for (uct::am_id id = wire::wireup; id <= wire::rndv_atp; ++id)
        list.push_back({"too short", [id](scene& in) { in.peer.send(id, char{1}); }});
    list.push_back({"no such id", [](scene& in) { in.peer.send(uct::am_id{20}, char{1}); }});
    list.push_back({"longer than its total", [](scene& in) {
                        in.peer.send(wire::eager_first,
                                     wire::eager_first_header{1, 5, in.ep_id(), 1, 0},
                                     std::vector<std::byte>(10));
                    }});
    list.push_back({"acknowledges what was announced", [](scene& in) {
                        in.peer.send(wire::eager_ack, wire::ack_header{in.send_id, UCS_OK});
                    }});
    list.push_back(
        {"asks for data in another's name", [](scene& in) {
             in.peer.send(wire::rndv_rtr, wire::rtr_header{in.send_id, 1, 0, 0, in.ep_id() + 9, 0});
         }});
    list.push_back({"asks for what is behind the end", [](scene& in) {
                        in.peer.send(wire::rndv_rtr,
                                     wire::rtr_header{in.send_id, 1, 4096, 101, in.ep_id(), 0});
                    }});
    list.push_back({"a request with a wrong address", [](scene& in) {
                        in.peer.send(wire::wireup, in.connection_message(wireup_type::request),
                                     std::vector<std::byte>(20));
                    }});
    list.push_back({"a request with another's address", [](scene& in) {
                        auto message = in.connection_message(wireup_type::request);
                        message.uid += 1;
                        in.peer.send(wire::wireup, message, in.peer.address());
                    }});
    list.push_back({"a reply to nobody with a wrong address", [](scene& in) {
                        auto message = in.connection_message(wireup_type::reply);
                        message.peer_ep_or_number = in.ep_id() + 99;
                        in.peer.send(wire::wireup, message, std::vector<std::byte>(20));
                    }});
    list.push_back({"a request for another worker", [](scene& in) {
                        auto message = in.connection_message(wireup_type::request);
                        message.peer_uid += 1;
                        in.peer.send(wire::wireup, message, in.peer.address());
                    }});
    list.push_back({"an unknown type", [](scene& in) {
                        auto message = in.connection_message(static_cast<wireup_type>(99));
                        message.peer_ep_or_number = in.ep_id();
                        in.peer.send(wire::wireup, message);
                    }});
    return list;
}

void no_memory(void*, uct::peer_bytes) {
    throw std::bad_alloc();
}

}  // namespace

TEST_CASE("every kind of invalid message is counted, and logged less and less often") {
    for (const invalid_message& kind : all_invalid_messages()) {
        INFO(kind.name);
        scene in;
        const test::log_capture log;
        for (int times = 0; times < 120; ++times) {
            kind.send(in);
            in.settle();
        }
        INFO(log.text());
        CHECK(in.worker->log().rejected().count() == 120);
        CHECK(log.size() == ucs::log::throttle::first_lines + 2);
        CHECK(log.count("(10 of the kind so far") == 1);
        CHECK(log.count("(100 of the kind so far") == 1);
        CHECK(ucp::worker_info(*in.worker).find("messages rejected: 120\n") != std::string::npos);
    }
}

TEST_CASE("messages lost for lack of memory are logged less and less often") {
    raw_world in({});
    ucp::handler_of<wire::eager_only>::install<no_memory>(*in.worker->interfaces().at(0),
                                                          in.worker.get());
    const test::log_capture log;
    for (int times = 0; times < 120; ++times) {
        in.deliver(wire::eager_only, std::uint64_t{1});
    }
    INFO(log.text());
    CHECK(in.worker->log().rejected().count() == 120);
    CHECK(log.count("out of memory") == ucs::log::throttle::first_lines + 2);
}

TEST_CASE("unreachable workers are logged less and less often") {
    raw_world in({});
    const test::log_capture log;
    for (std::uint64_t stranger = 1; stranger <= 120; ++stranger) {
        ucp::address::worker_address nowhere;
        const auto keys = ucs::security::key_pair::random();
        nowhere.identity = keys.public_half();
        const std::vector<std::byte> address = ucp::address::pack(nowhere, false);
        wireup_header request{wireup_type::request, {},       nowhere.uid(),
                              in.worker->uid(),     stranger, 0};
        request.set_order(1);
        request.proof = ucp::wireup::prove(*keys.agree(in.worker->identity().public_half()),
                                           in.worker->identity().address(false), request, address);
        in.peer.send_as_it_is(request, address);
        in.settle();
    }
    INFO(log.text());
    CHECK(in.worker->log().unreachable().count() >= 120);
    CHECK(log.count("is unreachable") <= ucs::log::throttle::first_lines + 4);
}

TEST_CASE("the log line about a lost message names its kind") {
    raw_world in({});
    const test::log_capture log;
    ucp::message_lost(*in.worker, ucp::wire::stream_credit, 16, "out of memory");
    ucp::message_lost(*in.worker, ucp::wire::credit_grant, 8, "out of memory");
    CHECK(log.count("out of memory: a message of 16 bytes (stream credit) was dropped") == 1);
    CHECK(log.count("out of memory: a message of 8 bytes (grant of credits) was dropped") == 1);
    CHECK(ucp::name_of(255) == std::string("unknown"));
}
