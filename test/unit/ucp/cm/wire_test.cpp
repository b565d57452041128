#include "ucp/cm/wire.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "ucp/cm/frame_reader.hpp"

using namespace ucp::cm;

namespace {

wire::request good_request() {
    return {.uid = 1,
            .ep = 2,
            .token = 3,
            .client_id = 4,
            .shows_client_id = true,
            .address = std::vector<std::byte>(200, std::byte{5})};
}

// Feeds a frame to an frame_reader in pieces of random lengths and returns the result.
frame_reader::result feed(frame_reader& into, std::span<const std::byte> bytes,
                          std::mt19937& random) {
    frame_reader::result result = frame_reader::result::incomplete;
    while (!bytes.empty() && result == frame_reader::result::incomplete) {
        const std::span<std::byte> space = into.space();
        REQUIRE_FALSE(space.empty());
        const std::size_t most = std::min(space.size(), bytes.size());
        const std::size_t count = 1 + random() % most;
        std::memcpy(space.data(), bytes.data(), count);
        bytes = bytes.subspan(count);
        result = into.filled(count);
    }
    return result;
}

}  // namespace

TEST_CASE("a request survives packing and parsing in any pieces", "[cm]") {
    const auto frame = good_request().pack();
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        frame_reader box;
        REQUIRE(feed(box, frame, random) == frame_reader::result::frame);
        const auto request = wire::parse_request(box.header(), box.body());
        REQUIRE(request);
        CHECK(request->uid == 1);
        CHECK(request->ep == 2);
        CHECK(request->token == 3);
        CHECK(request->client_id == 4);
        CHECK(request->shows_client_id);
        CHECK(request->address == good_request().address);
        box.clear();
        REQUIRE(feed(box, wire::header{.kind = wire::kind::established}.pack(), random) ==
                frame_reader::result::frame);
        CHECK(box.body().empty());
    }
}

TEST_CASE("every wrong field of a header is refused with a reason", "[cm]") {
    const auto good = wire::header{.kind = wire::kind::request, .length = 100}.pack();
    REQUIRE(wire::parse_header(good).value);
    const std::pair<std::size_t, int> changes[] = {
        {0, 0},     // magic
        {4, 2},     // version
        {6, 4},     // kind
        {9, 0x11},  // length
        {6, 2},     // a body in a frame without one
    };
    for (const auto& [position, value] : changes) {
        auto bytes = good;
        bytes[position] = static_cast<std::byte>(value);
        const auto answer = wire::parse_header(bytes);
        CHECK_FALSE(answer.value);
        CHECK(answer.why_not != nullptr);
    }
}

TEST_CASE("every wrong field of a request is refused", "[cm]") {
    const auto parses = [](void (*change)(wire::request&, wire::header&)) {
        wire::request request = good_request();
        wire::header header{.flags = wire::request::has_client_id};
        change(request, header);
        const auto frame = request.pack();
        header.length = static_cast<std::uint32_t>(frame.size() - wire::header_size);
        return wire::parse_request(header, std::span(frame).subspan(wire::header_size)).has_value();
    };
    CHECK(parses([](wire::request&, wire::header&) {}));
    CHECK_FALSE(parses([](wire::request& request, wire::header&) { request.uid = 0; }));
    CHECK_FALSE(parses([](wire::request& request, wire::header&) { request.ep = 0; }));
    CHECK_FALSE(parses([](wire::request& request, wire::header&) { request.token = 1ULL << 56; }));
    CHECK_FALSE(parses([](wire::request&, wire::header& header) { header.flags = 2; }));
    CHECK_FALSE(parses(
        [](wire::request&, wire::header& header) { header.reason = wire::reason::rejected; }));
    CHECK_FALSE(parses([](wire::request& request, wire::header&) { request.address.clear(); }));
}

TEST_CASE("a body that is too short is malformed", "[cm]") {
    const auto frame = good_request().pack();
    for (std::size_t length = 0; length <= 32; ++length) {
        CHECK_FALSE(wire::parse_request({}, std::span(frame).subspan(wire::header_size, length)));
    }
}
