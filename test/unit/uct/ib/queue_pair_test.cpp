// Unit tests: the attributes of a queue pair's transitions (ibv_modify_qp), computed without a
// device.
#include "uct/ib/rc/base/queue_pair.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "ucs/config/source.hpp"

using namespace uct::rc;

namespace {

template<class Settings = settings>
Settings with(std::initializer_list<std::pair<const char*, const char*>> values) {
    ucs::config::source config = ucs::config::source::empty();
    for (const auto& [name, text] : values)
        config.set(name, text);
    return *ucs::config::load<Settings>(config);
}

uct::ib::address peer_on_ethernet() {
    return {.link = uct::ib::gid_type::roce_v2,
            .read_depth = 3,
            .gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}};
}

}  // namespace

TEST_CASE("the transition to init allows the operations of peers") {
    port_setup port;
    port.number = 2;
    port.pkey_index = 5;
    const transition plain = to_init(port, false);
    CHECK(plain.attr.qp_state == IBV_QPS_INIT);
    CHECK(plain.attr.port_num == 2);
    CHECK(plain.attr.pkey_index == 5);
    CHECK((plain.attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) == 0);
    CHECK((to_init(port, true).attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) != 0);
}

TEST_CASE("the transition to receive uses the peer's data and the smaller MTU") {
    port_setup port;
    port.mtu = IBV_MTU_2048;
    port.gid_index = 3;
    port.hop_limit = 9;
    port.traffic_class = 106;
    port.read_resources = 7;
    const settings options = with({{"RC_VERBS_RNR_TIMEOUT", "10ms"}});
    wire::connection_data peer_data{0x11, 0x22, 0, 0, 0, IBV_MTU_1024};
    const transition made = to_receive(port, options, peer_on_ethernet(), peer_data);
    CHECK(made.attr.path_mtu == IBV_MTU_1024);
    CHECK(made.attr.dest_qp_num == 0x11);
    CHECK(made.attr.rq_psn == 0x22);
    CHECK(made.attr.max_dest_rd_atomic == 7);
    CHECK(made.attr.min_rnr_timer == 20);
    CHECK(made.attr.ah_attr.is_global == 1);
    CHECK(made.attr.ah_attr.grh.sgid_index == 3);
    CHECK(made.attr.ah_attr.grh.hop_limit == 9);
    CHECK(made.attr.ah_attr.grh.traffic_class == 106);
    CHECK(std::memcmp(made.attr.ah_attr.grh.dgid.raw, peer_on_ethernet().gid.data(), 16) == 0);
    peer_data.mtu = IBV_MTU_4096;
    CHECK(to_receive(port, options, peer_on_ethernet(), peer_data).attr.path_mtu == IBV_MTU_2048);
}

TEST_CASE("within an InfiniBand subnet the LID is the address") {
    const transition made = to_receive({}, with({}), {.lid = 12}, {1, 2, 0, 0, 0, IBV_MTU_1024});
    CHECK(made.attr.ah_attr.is_global == 0);
    CHECK(made.attr.ah_attr.dlid == 12);
}

TEST_CASE("the transition to send has the retry options, and the depth of both sides") {
    port_setup port;
    port.read_depth = 16;
    const settings options = with({{"RC_VERBS_TIMEOUT", "60ms"},
                                   {"RC_VERBS_RETRY_COUNT", "3"},
                                   {"RC_VERBS_RNR_RETRY_COUNT", "5"}});
    const transition made =
        to_send(port, options, peer_on_ethernet(), {1, 0x777, 0, 0, 0, IBV_MTU_1024});
    CHECK(made.attr.qp_state == IBV_QPS_RTS);
    CHECK(made.attr.sq_psn == 0x777);
    CHECK(made.attr.timeout == 14);
    CHECK(made.attr.retry_cnt == 3);
    CHECK(made.attr.rnr_retry == 5);
    CHECK(made.attr.max_rd_atomic == 3);
}

TEST_CASE("packets are marked as the user wants, and RoCE v2 as switches expect it") {
    uct::ib::gid_entry gid{.index = 3, .type = uct::ib::gid_type::roce_v2};
    const auto path_with = [&](std::initializer_list<std::pair<const char*, const char*>> values) {
        return uct::ib::path_from(2, 5, gid, with<uct::ib::settings>(values));
    };
    CHECK(path_with({}).traffic_class == 106);
    CHECK(path_with({}).service_level == 0);
    CHECK(path_with({}).gid_index == 3);
    CHECK(path_with({}).pkey_index == 5);
    CHECK(path_with({}).number == 2);
    CHECK(path_with({{"IB_TRAFFIC_CLASS", "32"}}).traffic_class == 32);
    CHECK(path_with({{"IB_SL", "7"}}).service_level == 7);
    CHECK(path_with({{"IB_HOP_LIMIT", "1"}}).hop_limit == 1);
    gid.type = uct::ib::gid_type::roce_v1;
    CHECK(path_with({}).traffic_class == 0);
}

TEST_CASE("both sides use their common connection options") {
    using uct::rc::wire::connection_data;
    constexpr std::uint32_t vendor = 0x2c9;
    const connection_data some{.ece_vendor = vendor, .ece_options = 0b1101, .ece_mask = 0b1};
    const connection_data other{.ece_vendor = vendor, .ece_options = 0b0111, .ece_mask = 0};
    for (const ibv_ece& each : {common_options(some, other), common_options(other, some)}) {
        CHECK(each.vendor_id == vendor);
        CHECK(each.options == 0b0101);
        CHECK(each.comp_mask == 0);
    }
    const connection_data stranger{.ece_vendor = 7, .ece_options = 0b1101};
    const connection_data none{.ece_options = 0b1101};
    CHECK(common_options(some, stranger).options == 0);
    CHECK(common_options(some, none).options == 0);
    CHECK(common_options(none, none).options == 0);
}
