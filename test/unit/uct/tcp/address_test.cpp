#include "uct/tcp/setup/address.hpp"

#include <random>

#include "test/support/parsing.hpp"

using namespace uct::tcp;

namespace {

constexpr std::array<std::byte, 4> four{std::byte{10}, std::byte{1}, std::byte{2}, std::byte{3}};
constexpr std::array<std::byte, 16> six{std::byte{0xfd}, std::byte{0}, std::byte{7}};

address sample(bool v4, bool v6) {
    address made;
    made.iface_id = 0x1122334455667788;
    made.network_id = 42;
    made.secret.fill(std::byte{0x5e});
    if (v4) made.v4 = {ip_address::v4(four), 4242, 24};
    if (v6) made.v6 = {ip_address::v6(six, 0), 4243, 64};
    return made;
}

std::vector<std::byte> packed(const address& from) {
    std::vector<std::byte> bytes(from.packed_size());
    from.pack(bytes);
    return bytes;
}

constexpr auto parse = [](std::span<const std::byte> from) { return address::parse(from, 0); };

}  // namespace

TEST_CASE("an address with any families is parsed as it was packed") {
    for (const auto& [v4, v6] : {std::pair{true, false}, {false, true}, {true, true}}) {
        address before = sample(v4, v6);
        before.loopback = v4;
        const auto bytes = packed(before);
        CHECK(bytes.size() <= address::max_size);
        const auto after = address::parse(bytes, 0);
        REQUIRE(after);
        CHECK(after->iface_id == before.iface_id);
        CHECK(after->network_id == before.network_id);
        CHECK(after->secret == before.secret);
        CHECK(after->loopback == before.loopback);
        CHECK(after->v4.ip == before.v4.ip);
        CHECK(after->v4.port == before.v4.port);
        CHECK(after->v4.prefix == before.v4.prefix);
        CHECK(after->v6.ip == before.v6.ip);
        CHECK(after->v6.port == before.v6.port);
    }
}

TEST_CASE("a cut or lengthened address is refused at every length") {
    test::check_only_whole(packed(sample(true, true)), parse);
}

TEST_CASE("an address with another version, unknown flags, no family, port 0 or id 0 is refused") {
    const auto good = packed(sample(true, false));
    REQUIRE(parse(good));
    CHECK(test::refuses(good, parse, 0, 3));
    CHECK(test::refuses(good, parse, 1, 1 | 8));
    CHECK(test::refuses(good, parse, 1, 0));
    CHECK(test::refuses(good, parse, 2, 33));
    CHECK(test::refuses(good, parse, 36, 0, 2));
    CHECK(test::refuses(good, parse, 4, 0, 8));
}

TEST_CASE("random bytes never parse into an address that packs differently") {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> bytes(random() % 50);
        for (std::byte& byte : bytes)
            byte = std::byte(random() % 4);
        if (const auto parsed = address::parse(bytes, 0)) {
            CHECK(parsed->packed_size() == bytes.size());
        }
    }
}

TEST_CASE("a link-local peer is reached through the own interface") {
    constexpr std::array<std::byte, 16> local{std::byte{0xfe}, std::byte{0x80}};
    CHECK(ip_address::v6(local, 3) != ip_address::v6(local, 4));
    CHECK(ip_address::v6(six, 3) == ip_address::v6(six, 4));
    CHECK(socket_address(ip_address::v6(local, 3), 80).text() == "[fe80::]:80");
    CHECK(socket_address(ip_address::v4(four), 80).text() == "10.1.2.3:80");
}
