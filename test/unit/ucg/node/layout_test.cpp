// Where things lie in the memory of a node.
#include "ucg/node/layout.hpp"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "test/support/log_capture.hpp"
#include "ucg/node/segment.hpp"

using namespace ucg::node;

namespace {

constexpr geometry of(rank_t ranks) {
    geometry made;
    made.ranks = ranks;
    return made;
}

static_assert(of(1).valid() && of(7).valid() && of(2048).valid());
static_assert(!of(0).valid() && !of(geometry::max_ranks + 1).valid());
static_assert(of(3).slot_at(0, 0) % page == 0 && of(3).ring_at(1, 2) % page == 0);
static_assert(of(3).mailbox_at(2, 1) % line_pair == 0 && of(3).control_at(2) % line_pair == 0);
static_assert(of(2).slot_at(1, of(2).slots + 1) == of(2).slot_at(1, 1));  // slots are used in turn

using range = std::pair<std::size_t, std::size_t>;

std::vector<range> all_ranges(const geometry& like) {
    std::vector<range> all{{0, sizeof(header)}};
    const auto add = [&](std::size_t at, std::size_t size) { all.emplace_back(at, at + size); };
    for (rank_t rank = 0; rank < like.ranks; ++rank) {
        add(like.control_at(rank), sizeof(control));
        for (unsigned i = 0; i < like.mailboxes; ++i)
            add(like.mailbox_at(rank, i), sizeof(mailbox_head) + like.mailbox_bytes);
        for (unsigned i = 0; i < like.slots; ++i)
            add(like.slot_at(rank, i), like.slot_bytes);
        for (rank_t to = 0; to < like.ranks; ++to)
            add(like.ring_at(rank, to), sizeof(ring_control) + like.ring_bytes);
    }
    return all;
}

}  // namespace

TEST_CASE("nothing in a node's memory overlaps or lies outside") {
    for (const rank_t ranks : {1U, 2U, 3U, 17U}) {
        geometry like = of(ranks);
        like.mailbox_bytes = 200;
        like.slots = 3;
        like.ring_bytes = 576;
        REQUIRE(like.valid());
        std::vector<range> all = all_ranges(like);
        std::sort(all.begin(), all.end());
        for (std::size_t i = 1; i < all.size(); ++i)
            REQUIRE(all[i - 1].second <= all[i].first);
        CHECK(all.back().second <= like.bytes());
    }
}

TEST_CASE("a row of slots begins at a multiple of its length, and there are two at least") {
    geometry like = of(2);
    const auto row_of = [&](std::uint32_t slots) {
        like.slots = slots;
        return like.longest_row();
    };
    CHECK(row_of(64) == 4);
    CHECK(row_of(8) == 4);
    CHECK(row_of(6) == 2);
    CHECK(row_of(4) == 2);
    CHECK(row_of(3) == 1);
    CHECK(row_of(2) == 1);
    like.slots = 8;
    CHECK(like.row_for(0) == 1);
    CHECK(like.row_for(like.slot_bytes) == 1);
    CHECK(like.row_for(like.slot_bytes + 1) == 2);
    CHECK(like.row_for(3 * like.slot_bytes) == 4);
    for (std::uint64_t first = 0; first < 32; first += 4)
        for (std::uint64_t i = 1; i < 4; ++i)
            CHECK(like.slot_at(1, first + i) == like.slot_at(1, first) + i * like.slot_bytes);
}

TEST_CASE("a node's memory is attached by those who expect it as it is") {
    geometry like = of(2);
    auto file = segment::make(like);
    REQUIRE(file.ok());
    CHECK(segment::attach(file->get(), like).ok());
    like.slots = 2;  // less than there is, but laid out otherwise
    CHECK(segment::attach(file->get(), like).status() == UCS_ERR_INVALID_PARAM);
    like.slots = 65;
    CHECK(segment::attach(file->get(), like).status() == UCS_ERR_INVALID_PARAM);
    like.slots = 0;
    CHECK(segment::make(like).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("a file has room for several groups, as many as all expect") {
    const geometry like = of(2);
    auto file = segment::make(like, 0, 3);
    REQUIRE(file.ok());
    for (const std::uint32_t other : {0U, 1U, 2U, 4U}) {
        const test::log_capture log;
        CHECK(segment::attach(file->get(), like, other).status() == UCS_ERR_INVALID_PARAM);
        CHECK(log.size() == 1);
    }
    auto first = segment::attach(file->get(), like, 3);
    REQUIRE(first.ok());
    std::byte* const end = first->copy(2).ring_content(1, 1) + like.ring_bytes;
    for (std::uint32_t number = 0; number < 3; ++number)
        first->copy(number).control_of(1).entered = number + 1;
    for (std::uint32_t number = 0; number < 3; ++number)
        CHECK(first->copy(number).control_of(1).entered == number + 1);
    CHECK(first->control_of(1).entered == 1);
    const segment last = first->copy(2);
    *first = segment();
    end[-1] = std::byte{1};  // the mapping lives as long as a copy
    CHECK(segment::make(like, 0, 0).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("where there is no room for several groups, the first one is mapped") {
    const geometry like = of(2);
    constexpr std::uint32_t beyond_addresses = 1U << 27;
    auto file = segment::make(like, 0, beyond_addresses);
    REQUIRE(file.ok());
    auto first = segment::attach(file->get(), like, beyond_addresses);
    REQUIRE(first.ok());
    CHECK(first->copies() == 1);
    first->control_of(1).entered = 1;
}
