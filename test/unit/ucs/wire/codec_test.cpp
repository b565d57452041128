#include "ucs/wire/codec.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace ucs::wire;

TEST_CASE("fields are read as they were written, and every cut is noticed") {
    std::array<std::byte, 40> buffer{};
    writer out(buffer);
    out.put(std::uint16_t{0x0102}).put_text8("name").put_varint(300).put_varint(~std::uint32_t{0});
    out.put_bytes8({}).put(std::array{std::byte{7}, std::byte{8}});
    REQUIRE(out.ok());
    REQUIRE(out.size() == 2 + 5 + 2 + 5 + 1 + 2);
    CHECK(buffer[0] == std::byte{2});  // the lowest byte comes first
    for (std::size_t length = 0; length <= out.size(); ++length) {
        reader in(out.written().first(length));
        const bool is_right = in.get<std::uint16_t>() == 0x0102 && in.text8() == "name" &&
                              in.varint() == 300 && in.varint() == ~std::uint32_t{0} &&
                              in.bytes8().empty() &&
                              in.get<std::array<std::byte, 2>>()[1] == std::byte{8};
        CHECK(is_right == (length == out.size()));
        CHECK(in.is_complete() == (length == out.size()));
    }
}

TEST_CASE("the first invalid field is named, and later fields are empty") {
    constexpr std::array bytes{std::byte{5}, std::byte{'a'}, std::byte{'b'}, std::byte{1}};
    reader in(bytes);
    CHECK(in.text8("a name", 4).empty());
    CHECK(in.get<std::uint8_t>("a number") == 0);
    CHECK(in.failed_field() == std::string_view("a name"));
    CHECK(in.position() == 1);
    CHECK_FALSE(in.ok());
}

TEST_CASE("a number of more than 32 bits is invalid") {
    std::array<std::byte, 6> bytes;
    bytes.fill(std::byte{0x80});
    const auto is_valid = [&](unsigned last) {
        bytes[4] = static_cast<std::byte>(last);
        reader in(bytes);
        static_cast<void>(in.varint());
        return in.ok();
    };
    CHECK(is_valid(0x0f));
    CHECK_FALSE(is_valid(0x10));
    CHECK_FALSE(is_valid(0x81));
}

TEST_CASE("a full buffer takes no more fields") {
    std::array<std::byte, 3> buffer{};
    writer out(buffer);
    out.put(std::uint16_t{1}).put(std::uint16_t{2}).put(std::uint8_t{3});
    CHECK_FALSE(out.ok());
    CHECK(out.size() == 2);
    CHECK(buffer[2] == std::byte{0});
    CHECK_FALSE(read<std::uint16_t>(buffer));
}
