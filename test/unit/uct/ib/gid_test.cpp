#include "uct/ib/base/device/gid.hpp"

#include <catch2/catch.hpp>

using namespace uct::ib;

namespace {

gid_entry entry(std::uint32_t index, gid_type type, const raw_gid& gid) {
    return {.gid = gid, .index = index, .type = type};
}

constexpr raw_gid link_local{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 1};
constexpr raw_gid ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 1};
constexpr raw_gid ipv6{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

}  // namespace

TEST_CASE("the most routable GID is chosen") {
    const gid_entry table[] = {
        entry(0, gid_type::roce_v1, link_local), entry(1, gid_type::roce_v2, link_local),
        entry(2, gid_type::roce_v1, ipv4),       entry(3, gid_type::roce_v2, ipv6),
        entry(4, gid_type::roce_v2, ipv4),       entry(5, gid_type::roce_v2, ipv4)};
    CHECK(choose_gid(table)->index == 4);
    CHECK(choose_gid(std::span(table).first(4))->index == 3);
    CHECK(choose_gid(std::span(table).first(3))->index == 1);
    CHECK(choose_gid(std::span(table).first(1))->index == 0);
    const gid_entry v1_only[] = {table[0], table[2]};
    CHECK(choose_gid(v1_only)->index == 2);
    CHECK_FALSE(choose_gid({}).has_value());
    const gid_entry nothing[] = {entry(0, gid_type::roce_v2, {})};
    CHECK_FALSE(choose_gid(nothing).has_value());
}

TEST_CASE("GIDs are printed as addresses") {
    CHECK(entry(0, gid_type::roce_v2, ipv4).text() == "10.9.0.1");
    CHECK(entry(0, gid_type::roce_v2, ipv6).text() == "fd00::1");
    CHECK(entry(0, gid_type::roce_v2, ipv4).is_ipv4());
    CHECK_FALSE(entry(0, gid_type::roce_v2, ipv6).is_ipv4());
    CHECK(entry(0, gid_type::roce_v1, link_local).is_link_local());
}
