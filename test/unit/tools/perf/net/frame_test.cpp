#include "tools/perf/net/frame.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"

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

using namespace tools::perf;

namespace {

test_request parse(const std::vector<std::string>& words) {
    return parse_request(pack_strings(words));
}

}  // namespace

TEST_CASE("a test request round-trips") {
    test_request asked{"tag/8k", {}};
    asked.params.test = "tag_lat";
    asked.params.pieces = {8192, 3};
    const test_request read = parse_request(pack_request(asked));
    CHECK(read.label == "tag/8k");
    CHECK(to_words(read.params) == to_words(asked.params));
}

TEST_CASE("a label of a peer cannot control a terminal") {
    CHECK(parse({"a\x1b[2J\n", "-t", "tag_lat"}).label == "a?[2J?");
}

TEST_CASE("invalid test requests are refused") {
    CHECK_THROWS_AS(parse_request({}), tools::failure);
    auto cut = pack_strings(std::vector<std::string>{"label", "-t", "tag_lat"});
    cut.pop_back();
    CHECK_THROWS_AS(parse_request(cut), tools::failure);
    CHECK_THROWS_AS(parse({"label"}), tools::usage_error);
    CHECK_THROWS_AS(parse({"label", "-t"}), tools::usage_error);
    CHECK_THROWS_AS(parse({"label", "-t", "tag_lat", "-s", "0:0"}), tools::usage_error);
    CHECK_THROWS_AS(parse({"label", "-t", "tag_lat", "-b", "file"}), tools::usage_error);
}

TEST_CASE("the error for a request is printable") {
    for (const std::string& word : {std::string("\x1b[2J"), std::string("\xc2\x9b"),
                                    std::string("a\nb"), std::string(longest_word + 1, 'a')}) {
        CHECK_THROWS_WITH(parse({"label", "-t", word}),
                          "the client sent a test request with words that are not text");
    }
    // The error quotes the letter of an option, too.
    CHECK_THROWS_AS(parse({"label", "-\x1b"}), tools::failure);
}

TEST_CASE("the longest list of sizes is a word") {
    std::vector<std::size_t> pieces(max_pieces);
    for (std::size_t index = 0; index < pieces.size(); ++index)
        pieces[index] = max_message / max_pieces - index % 2;
    test_request asked{"", {}};
    asked.params.test = "tag_lat";
    asked.params.pieces = pieces;
    CHECK(parse_request(pack_request(asked)).params.pieces == pieces);
}
