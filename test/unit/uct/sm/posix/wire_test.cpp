#include "uct/sm/posix/wire.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace uct::posix;

namespace {

hello good_hello() {
    hello said;
    said.pid = 1;
    said.slots = 256;
    said.bulk_size = 262144;
    said.max_message = 8256;
    said.segment_size = said.geometry().segment_size();
    return said;
}

parsed<hello> parse(const hello& said) {
    return parse_hello(std::as_bytes(std::span(&said, 1)));
}

}  // namespace

TEST_CASE("posix hello: a valid one is parsed", "[posix]") {
    const parsed<hello> answer = parse(good_hello());
    REQUIRE(answer.value);
    CHECK(answer.value->geometry() == ring_geometry{256, 262144, 8256});
}

TEST_CASE("posix hello: every wrong field is refused with a reason", "[posix]") {
    hello said = good_hello();
    SECTION("magic") {
        said.header.magic ^= 1;
    }
    SECTION("version") {
        said.header.version = 1;
    }
    SECTION("kind") {
        said.header.kind = packet_kind::challenge;
    }
    SECTION("slots not a power of two") {
        said.slots = 255;
    }
    SECTION("no slots") {
        said.slots = 0;
    }
    SECTION("too many slots") {
        said.slots = 1U << 31;
    }
    SECTION("bulk size not a power of two") {
        said.bulk_size -= 1;
    }
    SECTION("huge bulk size") {
        said.bulk_size = 1U << 31;
    }
    SECTION("messages larger than the bulk bytes allow") {
        said.max_message = 131072;
    }
    SECTION("segment smaller than the ring") {
        said.segment_size -= 4096;
    }
    SECTION("segment larger than the ring") {
        said.segment_size += 1;
    }
    const parsed<hello> answer = parse(said);
    CHECK_FALSE(answer.value);
    CHECK_FALSE(answer.reason.empty());
}

TEST_CASE("posix hello: other lengths are refused", "[posix]") {
    std::vector<std::byte> bytes(sizeof(hello) + 8);
    const hello said = good_hello();
    std::memcpy(bytes.data(), &said, sizeof said);
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        CHECK(parse_hello(std::span(bytes).first(length)).value.has_value() ==
              (length == sizeof said));
    }
}

TEST_CASE("posix challenge and reply: one of the right kind and length is read", "[posix]") {
    const challenge asked{.reply_socket = 17, .nonce = ucs::security::fresh_nonce()};
    const reply answered;
    const auto question = std::as_bytes(std::span(&asked, 1));
    const auto answer = std::as_bytes(std::span(&answered, 1));
    REQUIRE(parse_challenge(question).value);
    CHECK(parse_challenge(question).value->reply_socket == 17);
    CHECK(parse_challenge(question).value->nonce == asked.nonce);
    CHECK(parse_reply(answer).value);
    CHECK_FALSE(parse_challenge(answer).value);
    CHECK_FALSE(parse_reply(question).value);
    for (std::size_t length = 0; length < question.size(); ++length)
        CHECK_FALSE(parse_challenge(question.first(length)).value);
    for (std::size_t length = 0; length < answer.size(); ++length)
        CHECK_FALSE(parse_reply(answer.first(length)).value);
}

TEST_CASE("posix goodbye: known reasons are parsed, others are refused", "[posix]") {
    packet_header said{.kind = packet_kind::refused};
    CHECK(parse_goodbye(std::as_bytes(std::span(&said, 1))) == packet_kind::refused);
    said.kind = static_cast<packet_kind>(77);
    CHECK_FALSE(parse_goodbye(std::as_bytes(std::span(&said, 1))));
    said = {};
    said.magic = 0;
    CHECK_FALSE(parse_goodbye(std::as_bytes(std::span(&said, 1))));
    CHECK_FALSE(parse_goodbye({}));
}

TEST_CASE("posix wake-up call: it is distinguished from a goodbye", "[posix]") {
    packet_header said{.kind = packet_kind::wake_up_call};
    const auto bytes = std::as_bytes(std::span(&said, 1));
    CHECK(is_wake_up_call(bytes));
    CHECK_FALSE(parse_goodbye(bytes));
    CHECK_FALSE(is_wake_up_call(bytes.first(7)));
    said.version = 1;
    CHECK_FALSE(is_wake_up_call(bytes));
    said = {};
    CHECK_FALSE(is_wake_up_call(bytes));
}
