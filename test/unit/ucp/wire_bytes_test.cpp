// Compares the bytes of wire formats with bytes that were computed from their layouts.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "test/unit/ucp/address/samples.hpp"
#include "ucp/cm/wire.hpp"
#include "ucp/mem/key.hpp"
#include "ucp/wireup/pair_wire.hpp"
#include "uct/tcp/setup/address.hpp"
#include "uct/tcp/wire.hpp"

namespace {

std::string hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte each : bytes)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return text;
}

}  // namespace

TEST_CASE("greetings and addresses of tcp have their bytes") {
    namespace wire = uct::tcp::wire;
    std::array<std::byte, wire::greeting_size> greeting;
    wire::greeting{wire::greeting_kind::proof,  9,           0x0102030405060708, 12,
                   wire::refusal_reason::stale, {true, true}}
        .pack(greeting);
    CHECK(hex(greeting) ==
          "485753525443503104000500090000000807060504030201"
          "0c000000000000000400000003000000");

    uct::tcp::address both;
    both.iface_id = 0x1122334455667788;
    both.network_id = 42;
    both.secret.fill(std::byte{0x5e});
    both.loopback = true;
    constexpr std::array v4{std::byte{10}, std::byte{1}, std::byte{2}, std::byte{3}};
    constexpr std::array<std::byte, 16> v6{std::byte{0xfd}, std::byte{0}, std::byte{7}};
    both.v4 = {uct::tcp::ip_address::v4(v4), 4242, 24};
    both.v6 = {uct::tcp::ip_address::v6(v6, 0), 4243, 64};
    std::vector<std::byte> packed(both.packed_size());
    both.pack(packed);
    CHECK(hex(packed) ==
          "0207184088776655443322112a00000000000000"
          "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
          "92100a010203"
          "9310fd000700000000000000000000000000");
}

TEST_CASE("messages of clients and listeners have their bytes") {
    namespace wire = ucp::cm::wire;
    CHECK(
        hex(wire::header{.kind = wire::kind::refusal, .reason = wire::reason::malformed}.pack()) ==
        "4857434d010002000000000005000000");
    const wire::request request{.uid = 1,
                                .ep = 2,
                                .token = 3,
                                .client_id = 4,
                                .shows_client_id = true,
                                .address = {std::byte{5}, std::byte{6}}};
    CHECK(hex(request.pack()) ==
          "4857434d010001012200000000000000"
          "0100000000000000020000000000000003000000000000000400000000000000"
          "0506");
}

TEST_CASE("a worker address has its bytes") {
    ucp::address::worker_address made;
    made.identity = test::identity_of(0x123456789abcdef0);
    made.flags = 300;
    made.name = "node:1";
    made.entries = {test::make_entry("posix", "memory", uct::scope::host, 2, 12e9F),
                    test::make_entry("fabric", "odd0", uct::scope::network, 1, 1e9F)};
    CHECK(hex(ucp::address::pack(made, false)) ==
          "485702ed5500f2ef1bb5f0debc9a78563412f0debc9a78563412f0debc9a78563412f0debc9a7856"
          "3412ac02066e6f64653a31024201ad6a66a05864020516800666616272696300046f646430ad6add"
          "9c58640106");
}

TEST_CASE("keys to memory have their bytes") {
    ucp::mem::key key{.owner = {0x1111222233334444, 0x5555666677778888},
                      .base = 0x7f0000001000,
                      .length = 4096,
                      .allowed = ucp::mem::all_access,
                      .exported = false,
                      .block = {.host = 1, .tag = 2, .pid_namespace = 3, .pid = 4, .fd = 5},
                      .devices = {{1, {std::byte{7}, std::byte{8}}}}};
    const ucp::mem::packed_key packed = pack(key);
    CHECK(hex(std::span(packed.bytes).first(packed.length)) ==
          "450105034444333322221111888877776666555500100000007f0000001000000000000001000000"
          "0000000002000000000000000300000004000000050000000101020708");
}

TEST_CASE("messages that connect paired lanes have their bytes") {
    const std::array three{std::byte{1}, std::byte{2}, std::byte{3}};
    const auto some = std::span(three);
    CHECK(hex(pack(ucp::wireup::pair_request{{{"rc", some, some.first(2), some.first(1), 3}},
                                             some})) == "0102726303010203020102010103010203");
    CHECK(hex(pack(ucp::wireup::pair_reply{{some.first(1), 1}, {{}, 2}})) == "020101010002");
}
