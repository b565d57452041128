// Tests of the TCP store's frames, and of lists of ranks.
#include "ucg/oob/tcp/wire.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "ucg/oob/rank_list.hpp"

using namespace ucg::oob;

namespace {

wire::header_bytes packed(const wire::header& head) {
    wire::header_bytes bytes;
    wire::pack(head, bytes);
    return bytes;
}

}  // namespace

TEST_CASE("oob frames: a header is parsed as it was packed") {
    const wire::header sent{wire::frame_kind::block, 3, 9, 0x1234567890abcdef, 77, 4096};
    const auto read = wire::parse(packed(sent));
    REQUIRE(read);
    CHECK(read->kind == sent.kind);
    CHECK(read->from == 3);
    CHECK(read->ranks == 9);
    CHECK(read->job == sent.job);
    CHECK(read->round == 77);
    CHECK(read->content == 4096);
    // The byte layout is fixed for other versions.
    const auto bytes = packed(sent);
    CHECK(std::memcmp(bytes.data(),
                      "HOOB\2\0\3\0\3\0\0\0\11\0\0\0"
                      "\xef\xcd\xab\x90\x78\x56\x34\x12M\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0",
                      wire::header::size) == 0);
}

TEST_CASE("oob frames: invalid headers are refused") {
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::hello, 9, 9})));
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::hello, 0, 0})));
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::hello, 0, 2, 0, 0, 1})));
    CHECK_FALSE(wire::parse(packed({static_cast<wire::frame_kind>(0), 0, 2})));
    CHECK_FALSE(wire::parse(packed({static_cast<wire::frame_kind>(11), 0, 2})));
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::block, 0, 2, 0, 0, ~std::uint64_t{0}})));
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::failure, 0, 2, 0, 0, 4})));
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::failure, 0, 2, 0, 0, 9})));
    CHECK_FALSE(wire::parse(packed({wire::frame_kind::failure, 0, 2, 0, 0, 1000})));
    for (const std::size_t offset : {0U, 3U, 4U}) {
        auto bytes = packed({wire::frame_kind::hello, 1, 2});
        bytes[offset] ^= std::byte{1};
        CHECK_FALSE(wire::parse(bytes));
    }
}

TEST_CASE("oob frames: a failure is parsed as it was packed, and validated") {
    std::array<std::byte, wire::failure::max_bytes> bytes;
    const auto pack = [&](wire::failure failure) {
        return std::span<const std::byte>(bytes).first(wire::pack(failure, bytes));
    };
    const auto read = wire::parse_failure(pack({UCS_ERR_TIMED_OUT, 5, {1, 2, 6}}), 7);
    REQUIRE(read);
    CHECK(read->status == UCS_ERR_TIMED_OUT);
    CHECK(read->count == 5);
    CHECK(read->first == std::vector<rank_t>{1, 2, 6});
    CHECK_FALSE(wire::parse_failure(pack({UCS_ERR_TIMED_OUT, 3, {1, 2, 7}}), 7));
    CHECK_FALSE(wire::parse_failure(pack({UCS_ERR_TIMED_OUT, 3, {1, 1, 2}}), 7));
    CHECK_FALSE(wire::parse_failure(pack({UCS_ERR_TIMED_OUT, 2, {1, 2, 3}}), 7));
    CHECK_FALSE(wire::parse_failure(pack({UCS_ERR_TIMED_OUT, 8, {}}), 7));
    CHECK_FALSE(wire::parse_failure(pack({UCS_OK, 0, {}}), 7));
    CHECK_FALSE(wire::parse_failure(pack({UCS_ERR_LAST, 0, {}}), 7));
    CHECK_FALSE(wire::parse_failure(std::span(bytes).first(7), 7));
    wire::failure many{UCS_ERR_TIMED_OUT, 1000, {}};
    for (rank_t rank = 0; rank < 1000; ++rank)
        many.first.push_back(rank);
    const auto cut = wire::parse_failure(pack(many), 1000);
    REQUIRE(cut);
    CHECK(cut->first.size() == wire::failure::max_listed);
    CHECK(cut->count == 1000);
}

TEST_CASE("oob frames: publications and look-ups have limits") {
    using wire::frame_kind;
    const auto fits = [](frame_kind kind, std::uint64_t content) {
        return wire::parse(packed({kind, 1, 2, 0, 5, content})).has_value();
    };
    CHECK_FALSE(fits(frame_kind::published, 0));
    CHECK(fits(frame_kind::published, 1));
    CHECK(fits(frame_kind::published, wire::max_published));
    CHECK_FALSE(fits(frame_kind::published, wire::max_published + 1));
    CHECK(fits(frame_kind::lookup, 4));
    CHECK_FALSE(fits(frame_kind::lookup, 5));
    CHECK(fits(frame_kind::withdrawn, 0));
    CHECK_FALSE(fits(frame_kind::withdrawn, 1));
    CHECK_FALSE(fits(frame_kind::reply, 7));
    CHECK(fits(frame_kind::reply, 8 + wire::max_published));
    CHECK_FALSE(fits(frame_kind::reply, 9 + wire::max_published));

    std::array<std::byte, wire::reply_head::size> bytes;
    wire::pack({UCS_ERR_NO_ELEM, 6}, bytes);
    const auto read = wire::parse_reply(bytes, 7);
    REQUIRE(read);
    CHECK(read->status == UCS_ERR_NO_ELEM);
    CHECK(read->rank == 6);
    CHECK_FALSE(wire::parse_reply(bytes, 6));
    wire::pack({UCS_INPROGRESS, 6}, bytes);
    CHECK_FALSE(wire::parse_reply(bytes, 7));
    wire::pack({UCS_ERR_LAST, 6}, bytes);
    CHECK_FALSE(wire::parse_reply(bytes, 7));
    std::array<std::byte, sizeof(rank_t)> content;
    wire::pack_lookup(0x01020304, content);
    CHECK(wire::parse_lookup(content) == 0x01020304);
    CHECK(content[0] == std::byte{4});
}

TEST_CASE("lists of ranks use ranges, and name the first ones") {
    const auto text = [](std::vector<rank_t> ranks, std::uint64_t more = 0) {
        return rank_list(ranks, more);
    };
    CHECK(text({4}) == "rank 4");
    CHECK(text({4, 5}) == "ranks 4-5");
    CHECK(text({1, 3, 4, 5, 9}) == "ranks 1, 3-5 and 9");
    CHECK(text({1, 2}, 40) == "ranks 1-2 and 40 more");
    std::vector<rank_t> odd;
    for (rank_t rank = 1; rank < 100; rank += 2)
        odd.push_back(rank);
    CHECK(rank_list(odd).ends_with(", 39 and 30 more"));
}
