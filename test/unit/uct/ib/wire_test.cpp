#include "uct/ib/rc/base/wire.hpp"

#include <array>

#include "test/support/parsing.hpp"
#include "uct/ib/base/device/address.hpp"
#include "uct/ib/base/device/device.hpp"
#include "uct/ib/base/memory/domain.hpp"

namespace {

uct::ib::address some_address() {
    return {.link = uct::ib::gid_type::roce_v2,
            .mtu = IBV_MTU_1024,
            .read_depth = 16,
            .pkey = 0xffff,
            .gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1},
            .iface_id = 77};
}

}  // namespace

TEST_CASE("an RDMA address survives packing, and invalid ones are refused") {
    std::array<std::byte, uct::ib::address::size> packed{};
    some_address().pack(packed);
    REQUIRE(uct::ib::address::parse(packed) == some_address());
    test::check_only_whole(packed, uct::ib::address::parse);
    const auto refused = [&](std::size_t position, unsigned value, std::size_t count = 1) {
        return test::refuses(packed, uct::ib::address::parse, position, value, count);
    };
    CHECK(refused(0, 2));  // version
    CHECK(refused(1, 3));  // link
    CHECK(refused(4, 0));  // MTU
    CHECK(refused(4, 6));
    CHECK(refused(5, 0));      // reads
    CHECK(refused(24, 0, 8));  // no interface
    CHECK(refused(8, 0, 16));  // no GID
}

TEST_CASE("a key to memory survives packing, and invalid ones are refused") {
    using uct::ib::memory_key;
    const memory_key made{0x7f00'1234'5000, 4096, 0xabcdef, uct::memory_access::change};
    std::array<std::byte, memory_key::size> packed{};
    made.pack(packed);
    REQUIRE(memory_key::parse(packed) == made);
    test::check_only_whole(packed, memory_key::parse);
    const auto refused = [&](std::size_t position, unsigned value, std::size_t count = 1) {
        return test::refuses(packed, memory_key::parse, position, value, count);
    };
    CHECK(refused(20, 2));  // version
    CHECK(refused(21, 2));  // an unknown right
    CHECK(refused(22, 1));
    CHECK(refused(8, 0xff, 8));  // too long
}

TEST_CASE("memory of a peer covers its bytes and no others") {
    const uct::ib::remote_region region({0x1000, 64, 1}, uct::memory_access::read);
    CHECK(region.covers(0x1000, 64));
    CHECK(region.covers(0x1040, 0));
    CHECK_FALSE(region.covers(0x1001, 64));
    CHECK_FALSE(region.covers(0xfff, 1));
    CHECK_FALSE(region.covers(0x1020, ~std::uint64_t{0}));
}

TEST_CASE("connection data survives packing, and invalid data is refused") {
    using uct::rc::wire::connection_data;
    const connection_data made{0x123456, 0xfedcba, 1, 2, 3, IBV_MTU_4096};
    std::array<std::byte, connection_data::size> packed{};
    made.pack(packed);
    REQUIRE(connection_data::parse(packed) == made);
    const auto refused = [&](std::size_t position, unsigned value, std::size_t count = 1) {
        return test::refuses(packed, connection_data::parse, position, value, count);
    };
    CHECK(refused(3, 1));   // a queue pair number of more than 24 bits
    CHECK(refused(7, 1));   // a packet number of more
    CHECK(refused(20, 9));  // version
    CHECK(refused(21, 0));  // MTU
    CHECK(refused(22, 1));  // padding
    test::check_only_whole(packed, connection_data::parse);
}

TEST_CASE("ports have names") {
    const auto port = uct::ib::port_name::parse("mlx5_0:2");
    REQUIRE(port.has_value());
    CHECK(port->device == "mlx5_0");
    CHECK(port->port == 2);
    CHECK(port->text() == "mlx5_0:2");
    for (const char* wrong : {"", "mlx5_0", ":1", "mlx5_0:", "mlx5_0:0", "mlx5_0:300", "a:1x"})
        CHECK_FALSE(uct::ib::port_name::parse(wrong).has_value());
}
