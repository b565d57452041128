#include "ucp/wireup/pair_wire.hpp"

#include "test/support/parsing.hpp"

using namespace ucp::wireup;

namespace {

std::vector<std::byte> bytes(std::initializer_list<int> list) {
    std::vector<std::byte> made;
    for (const int each : list)
        made.push_back(static_cast<std::byte>(each));
    return made;
}

const std::vector<std::byte> to = bytes({1, 2, 3});
const std::vector<std::byte> from = bytes({4, 5});
const std::vector<std::byte> connection = bytes({6});
const std::vector<std::byte> address = bytes({7, 8, 9, 10});

}  // namespace

TEST_CASE("a pair request survives packing and parsing") {
    const std::vector<std::byte> packed = pack(
        pair_request{{{"rc_verbs", to, from, connection, 3}, {"x", {}, {}, {}, 255}}, address});
    const auto read = parse_pair_request(packed);
    REQUIRE(read);
    REQUIRE(read->lanes.size() == 2);
    CHECK(read->lanes[0].transport == "rc_verbs");
    CHECK(std::ranges::equal(read->lanes[0].to, to));
    CHECK(std::ranges::equal(read->lanes[0].from, from));
    CHECK(std::ranges::equal(read->lanes[0].connection, connection));
    CHECK(read->lanes[0].device == 3);
    CHECK(read->lanes[1].device == 255);
    CHECK(std::ranges::equal(read->address, address));
    const std::vector<std::byte> empty = pack(pair_request{{}, address});
    const auto none = parse_pair_request(empty);
    REQUIRE(none);
    CHECK(none->lanes.empty());
}

TEST_CASE("a pair reply survives packing and parsing") {
    const std::vector<std::byte> packed = pack(pair_reply{{connection, 1}, {to, 2}});
    const auto read = parse_pair_reply(packed);
    REQUIRE(read);
    REQUIRE(read->size() == 2);
    CHECK(std::ranges::equal((*read)[0].connection, connection));
    CHECK((*read)[1].device == 2);
}

TEST_CASE("truncated pair requests and replies are malformed, and are not read beyond their end") {
    const std::vector<std::byte> request =
        pack(pair_request{{{"rc_verbs", to, from, connection, 3}}, {}});
    const std::vector<std::byte> reply = pack(pair_reply{{connection, 1}, {to, 2}});
    // The rest of a request is the address.
    for (std::size_t length = 0; length < request.size(); ++length)
        CHECK_FALSE(test::parse_exactly(std::span(request).first(length), parse_pair_request));
    test::check_only_whole(reply, parse_pair_reply);
}

TEST_CASE("too many lanes are malformed") {
    pair_request many;
    many.lanes.resize(max_paired_lanes + 1);
    CHECK_FALSE(parse_pair_request(pack(many)));
    CHECK_FALSE(parse_pair_reply(pack(pair_reply(max_paired_lanes + 1))));
}
