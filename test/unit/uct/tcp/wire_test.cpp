#include "uct/tcp/wire.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

using namespace uct::tcp::wire;

namespace {

std::array<std::byte, greeting_size> packed(const greeting& from) {
    std::array<std::byte, greeting_size> bytes;
    from.pack(bytes);
    return bytes;
}

const greeting sample{.kind = greeting_kind::refusal,
                      .attempt = 9,
                      .from = 11,
                      .to = 12,
                      .reason = refusal_reason::lost_race,
                      .terms = {.job_key = true, .encrypted = true}};

bool parses(frame_header header) {
    std::array<std::byte, frame_header_size> bytes;
    std::memcpy(bytes.data(), &header, sizeof header);
    return parse_frame(bytes).has_value();
}

}  // namespace

TEST_CASE("a greeting is parsed as it was packed") {
    const auto parsed = parse_greeting(packed(sample));
    CHECK(parsed.error == greeting_error::none);
    CHECK(parsed.value.kind == sample.kind);
    CHECK(parsed.value.attempt == sample.attempt);
    CHECK(parsed.value.from == sample.from);
    CHECK(parsed.value.to == sample.to);
    CHECK(parsed.value.reason == sample.reason);
    CHECK(parsed.value.terms == sample.terms);
}

TEST_CASE("foreign, malformed and newer greetings are distinguished") {
    const auto error_with = [](std::size_t position, unsigned value) {
        auto bytes = packed(sample);
        bytes[position] = static_cast<std::byte>(value);
        return parse_greeting(bytes).error;
    };
    CHECK(error_with(0, 0) == greeting_error::foreign);
    CHECK(error_with(8, version + 1) == greeting_error::other_version);
    CHECK(error_with(10, last_greeting_kind + 1) == greeting_error::malformed);
    CHECK(error_with(32, last_refusal_reason + 1) == greeting_error::malformed);
    CHECK(error_with(36, 2) == greeting_error::malformed);  // encryption without a key
    CHECK(error_with(36, 4) == greeting_error::malformed);
}

TEST_CASE("frame headers with a wrong field are refused") {
    const frame_header good{100, 3, frame_kind::message, frame_mark};
    CHECK(parses(good));
    CHECK(parses({max_body, 3, frame_kind::message, frame_mark}));
    CHECK_FALSE(parses({max_body + 1, 3, frame_kind::message, frame_mark}));
    CHECK_FALSE(parses({100, 32, frame_kind::message, frame_mark}));
    CHECK_FALSE(parses({100, 3, static_cast<frame_kind>(5), frame_mark}));
    CHECK_FALSE(parses({100, 3, frame_kind::message, 0}));
    CHECK(parses({0, 0, frame_kind::leave, frame_mark}));
    CHECK_FALSE(parses({1, 0, frame_kind::leave, frame_mark}));
}

TEST_CASE("frames are padded to whole words") {
    CHECK(frame_size(0) == 8);
    CHECK(frame_size(1) == 16);
    CHECK(frame_size(8) == 16);
    CHECK(frame_size(9) == 24);
}
