#include "ucp/mem/key.hpp"

#include "test/support/parsing.hpp"

using namespace ucp::mem;

namespace {

key plain_key() {
    return {.owner = {0x1111222233334444, 0x5555666677778888},
            .base = 0x7f0000001000,
            .length = 4096,
            .allowed = all_access,
            .exported = false,
            .block = {},
            .devices = {}};
}

key block_key() {
    key made = plain_key();
    made.block = {.host = 1, .tag = 2, .pid_namespace = 3, .pid = 4, .fd = 5};
    return made;
}

key device_key_of_one() {
    key made = plain_key();
    made.devices = {{1, std::vector<std::byte>(24, std::byte{7})}};
    return made;
}

std::optional<key> parse_exactly(const std::vector<std::byte>& packed) {
    return test::parse_exactly(packed, parse_key);
}

std::vector<std::byte> packed(const key& from) {
    const packed_key made = pack(from);
    return {made.bytes.begin(), made.bytes.begin() + static_cast<std::ptrdiff_t>(made.length)};
}

}  // namespace

TEST_CASE("a key survives being packed", "[ucp][mem]") {
    for (key each : {plain_key(), block_key(), device_key_of_one()}) {
        for (std::uint8_t allowed = 0; allowed <= all_access; ++allowed) {
            each.allowed = allowed;
            each.exported = allowed == 1;
            const auto bytes = packed(each);
            REQUIRE(packed_length(bytes.data()) == bytes.size());
            const auto again = parse_exactly(bytes);
            REQUIRE(again);
            REQUIRE(*again == each);
        }
    }
    REQUIRE(packed(plain_key()).size() == 36);
    REQUIRE(packed(block_key()).size() == 64);
}

TEST_CASE("a key contains device keys as far as they fit", "[ucp][mem]") {
    key many = block_key();
    for (std::uint8_t device = 0; device < 9; ++device)
        many.devices.push_back({device, std::vector<std::byte>(24, std::byte{device})});
    const auto bytes = packed(many);
    REQUIRE(bytes.size() == 64 + 1 + 7 * 26);
    const auto again = parse_exactly(bytes);
    REQUIRE(again);
    REQUIRE(again->devices.size() == 7);
    REQUIRE(again->devices[6] == many.devices[6]);
    REQUIRE(packed(device_key_of_one()).size() <= 64);  // the limit of libfabric
}

TEST_CASE("malformed keys are refused", "[ucp][mem]") {
    for (const key& each : {plain_key(), block_key(), device_key_of_one()}) {
        const auto good = packed(each);
        SECTION("cut short or too long") {
            test::check_only_whole(good, parse_key);
        }
        SECTION("another length, version, unknown flags or access") {
            for (std::size_t position = 0; position < 4; ++position)
                REQUIRE(test::refuses(good, parse_key, position, 0xff));
        }
        SECTION("no id, or memory around the end of the address space") {
            key bad = each;
            bad.owner.id = 0;
            REQUIRE_FALSE(parse_exactly(packed(bad)));
            bad = each;
            bad.length = ~std::uint64_t{0};
            REQUIRE_FALSE(parse_exactly(packed(bad)));
        }
    }
    // A shared block must begin with a page. Otherwise words that are aligned for its owner would
    // be misaligned where a peer maps the block. Memory without a block may begin at any address.
    for (const std::uint64_t offset : {1U, 4U, 8U, 2048U}) {
        key odd = plain_key();
        odd.base += offset;
        REQUIRE(parse_exactly(packed(odd)));
        odd.block = block_key().block;
        REQUIRE_FALSE(parse_exactly(packed(odd)));
    }
    // The tag of the block's name is 0, which no block has.
    REQUIRE(test::refuses(packed(block_key()), parse_key, 44, 0, 8));
}

TEST_CASE("an impossible key length is refused", "[ucp][mem]") {
    for (unsigned length = 0; length < 256; ++length) {
        const auto first = static_cast<std::byte>(length);
        REQUIRE(packed_length(&first) == (length >= 36 ? length : 0));
    }
}

TEST_CASE("a range is inside memory or not", "[ucp][mem]") {
    STATIC_REQUIRE(within(100, 10, 100, 10));
    STATIC_REQUIRE(within(100, 10, 110, 0));
    STATIC_REQUIRE_FALSE(within(100, 10, 99, 1));
    STATIC_REQUIRE_FALSE(within(100, 10, 101, 10));
    STATIC_REQUIRE_FALSE(within(100, 10, 111, 0));
    STATIC_REQUIRE_FALSE(within(100, 10, 105, ~std::uint64_t{0}));
    STATIC_REQUIRE_FALSE(within(100, 10, ~std::uint64_t{0}, 1));
}
