#include "tools/perf/net/frame.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace tools::perf;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("headers round-trip") {
    const auto bytes = pack_header(frame_type::addresses, 70000);
    const auto header = parse_header(bytes);
    REQUIRE(header);
    CHECK(header->type == frame_type::addresses);
    CHECK(header->length == 70000);
    CHECK(std::memcmp(bytes.data(), "HWPF\2\0\3\0\x70\x11\1\0", frame_header_size) == 0);
}

TEST_CASE("every damaged header is refused or names a known type within bounds") {
    for (std::size_t offset = 0; offset < frame_header_size; ++offset) {
        for (int bit = 0; bit < 8; ++bit) {
            auto bytes = pack_header(frame_type::barrier);
            bytes[offset] ^= static_cast<std::byte>(1 << bit);
            const auto header = parse_header(bytes);
            if (offset < 6) CHECK_FALSE(header.has_value());
            if (header) CHECK(header->length <= max_content);
        }
    }
}

TEST_CASE("strings round-trip and need their terminator") {
    const std::vector<std::string> strings{"label", "", "-t", "tag_lat"};
    auto content = pack_strings(strings);
    CHECK(parse_strings(content) == strings);
    content.pop_back();
    CHECK_FALSE(parse_strings(content).has_value());
    CHECK(parse_strings({})->empty());
}

TEST_CASE("blobs round-trip and every truncation is detected") {
    const std::vector<blob> blobs{bytes_of("abc"), {}, bytes_of("0123456789")};
    const auto content = pack_blobs(blobs);
    CHECK(content == bytes_of(std::string_view("\3\0\0\0abc\0\0\0\0\12\0\0\0"
                                               "0123456789",
                                               25)));
    CHECK(parse_blobs(content) == blobs);
    for (std::size_t length = 1; length < content.size(); ++length) {
        const auto parsed = parse_blobs(std::span(content).first(length));
        if (parsed) CHECK(parsed->size() < blobs.size());
    }
    auto longer = content;
    longer[0] = std::byte{0xff};
    longer[3] = std::byte{0xff};
    CHECK_FALSE(parse_blobs(longer).has_value());
}

TEST_CASE("text from a peer cannot control a terminal") {
    CHECK(printable(bytes_of("ok\x1b[2J\n")) == "ok?[2J?");
    CHECK(printable(std::vector<std::byte>(9999, std::byte{'a'})).size() == 500);
}
