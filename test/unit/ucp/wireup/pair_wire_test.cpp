#include "ucp/wireup/pair_wire.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

using namespace ucp::wireup;

namespace {

std::vector<std::byte> bytes(std::initializer_list<int> list) {
    std::vector<std::byte> made;
    for (const int each : list)
        made.push_back(static_cast<std::byte>(each));
    return made;
}

// Parses from memory of exactly this size, so that a sanitizer sees any byte read behind it.
template<class Parse>
auto exactly(const std::vector<std::byte>& from, Parse parse, bool& good) {
    auto exact = std::make_unique<std::byte[]>(from.size());
    std::copy(from.begin(), from.end(), exact.get());
    good = parse(std::span<const std::byte>(exact.get(), from.size())).has_value();
}

const std::vector<std::byte> to = bytes({1, 2, 3});
const std::vector<std::byte> from = bytes({4, 5});
const std::vector<std::byte> connection = bytes({6});
const std::vector<std::byte> address = bytes({7, 8, 9, 10});

}  // namespace

TEST_CASE("a question about lanes in pairs survives its way") {
    const std::vector<std::byte> packed = pack(
        pair_question{{{"rc_verbs", to, from, connection, 3}, {"x", {}, {}, {}, 255}}, address});
    const auto read = parse_question(packed);
    REQUIRE(read);
    REQUIRE(read->lanes.size() == 2);
    CHECK(read->lanes[0].transport == "rc_verbs");
    CHECK(std::ranges::equal(read->lanes[0].to, to));
    CHECK(std::ranges::equal(read->lanes[0].from, from));
    CHECK(std::ranges::equal(read->lanes[0].connection, connection));
    CHECK(read->lanes[0].device == 3);
    CHECK(read->lanes[1].device == 255);
    CHECK(std::ranges::equal(read->address, address));
    const std::vector<std::byte> empty = pack(pair_question{{}, address});
    const auto none = parse_question(empty);
    REQUIRE(none);
    CHECK(none->lanes.empty());
}

TEST_CASE("an answer about lanes in pairs survives its way") {
    const std::vector<std::byte> packed = pack(pair_answer{{connection, 1}, {to, 2}});
    const auto read = parse_answer(packed);
    REQUIRE(read);
    REQUIRE(read->size() == 2);
    CHECK(std::ranges::equal((*read)[0].connection, connection));
    CHECK((*read)[1].device == 2);
}

TEST_CASE("what is cut is no question and no answer, and is not read behind its end") {
    const std::vector<std::byte> question =
        pack(pair_question{{{"rc_verbs", to, from, connection, 3}}, {}});
    const std::vector<std::byte> answer = pack(pair_answer{{connection, 1}, {to, 2}});
    for (std::size_t length = 0; length <= std::max(question.size(), answer.size()); ++length) {
        bool good = true;
        if (length < question.size()) {
            exactly({question.begin(), question.begin() + static_cast<std::ptrdiff_t>(length)},
                    parse_question, good);
            CHECK_FALSE(good);
        }
        if (length < answer.size()) {
            exactly({answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(length)},
                    parse_answer, good);
            CHECK_FALSE(good);
        }
    }
    std::vector<std::byte> longer = answer;
    longer.push_back(std::byte{0});
    CHECK_FALSE(parse_answer(longer));
}

TEST_CASE("more lanes than there may be are no question") {
    pair_question many;
    many.lanes.resize(max_paired_lanes + 1);
    CHECK_FALSE(parse_question(pack(many)));
    CHECK_FALSE(parse_answer(pack(pair_answer(max_paired_lanes + 1))));
}
