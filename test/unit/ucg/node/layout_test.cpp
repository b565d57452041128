// Tests of the layout of a node's memory.
#include "ucg/node/memory/layout.hpp"

#include <catch2/catch.hpp>
#include <utility>

#include "test/support/log_capture.hpp"
#include "ucg/node/memory/shared_memory.hpp"

using namespace ucg::node;

namespace {

constexpr geometry for_ranks(rank_t ranks) {
    geometry made;
    made.ranks = ranks;
    return made;
}

static_assert(for_ranks(1).valid() && for_ranks(7).valid() && for_ranks(2048).valid());
static_assert(!for_ranks(0).valid() && !for_ranks(geometry::max_ranks + 1).valid());
static_assert(for_ranks(3).slot_at(0, 0) % page == 0 && for_ranks(3).ring_at(1, 2) % page == 0);
static_assert(for_ranks(3).mailbox_at(2, 1) % line_pair == 0 &&
              for_ranks(3).control_at(2) % line_pair == 0);
static_assert(for_ranks(2).slot_at(1, for_ranks(2).slots + 1) ==
              for_ranks(2).slot_at(1, 1));  // slots are used in turn

using range = std::pair<std::size_t, std::size_t>;

std::vector<range> all_ranges(const geometry& layout) {
    std::vector<range> all{{0, sizeof(header)}};
    const auto add = [&](std::size_t offset, std::size_t size) {
        all.emplace_back(offset, offset + size);
    };
    for (rank_t rank = 0; rank < layout.ranks; ++rank) {
        add(layout.control_at(rank), sizeof(control));
        for (unsigned i = 0; i < layout.mailboxes; ++i)
            add(layout.mailbox_at(rank, i), sizeof(mailbox_head) + layout.mailbox_bytes);
        for (unsigned i = 0; i < layout.slots; ++i)
            add(layout.slot_at(rank, i), layout.slot_bytes);
        for (rank_t to = 0; to < layout.ranks; ++to)
            add(layout.ring_at(rank, to), sizeof(ring_control) + layout.ring_bytes);
    }
    return all;
}

}  // namespace

TEST_CASE("layout: nothing in a node's memory overlaps or lies outside") {
    for (const rank_t ranks : {1U, 2U, 3U, 17U}) {
        geometry layout = for_ranks(ranks);
        layout.mailbox_bytes = 200;
        layout.slots = 3;
        layout.ring_bytes = 576;
        REQUIRE(layout.valid());
        std::vector<range> all = all_ranges(layout);
        std::sort(all.begin(), all.end());
        for (std::size_t i = 1; i < all.size(); ++i)
            REQUIRE(all[i - 1].second <= all[i].first);
        CHECK(all.back().second <= layout.bytes());
    }
}

TEST_CASE("layout: a row of slots begins at a multiple of its length, and there are at least two") {
    geometry layout = for_ranks(2);
    const auto row_of = [&](std::uint32_t slots) {
        layout.slots = slots;
        return layout.longest_row();
    };
    CHECK(row_of(64) == 4);
    CHECK(row_of(8) == 4);
    CHECK(row_of(6) == 2);
    CHECK(row_of(4) == 2);
    CHECK(row_of(3) == 1);
    CHECK(row_of(2) == 1);
    layout.slots = 8;
    CHECK(layout.row_for(0) == 1);
    CHECK(layout.row_for(layout.slot_bytes) == 1);
    CHECK(layout.row_for(layout.slot_bytes + 1) == 2);
    CHECK(layout.row_for(3 * layout.slot_bytes) == 4);
    for (std::uint64_t first = 0; first < 32; first += 4)
        for (std::uint64_t i = 1; i < 4; ++i)
            CHECK(layout.slot_at(1, first + i) == layout.slot_at(1, first) + i * layout.slot_bytes);
}

TEST_CASE("shared memory: attach fails if the expected geometry differs") {
    geometry layout = for_ranks(2);
    auto file = shared_memory::make(layout);
    REQUIRE(file.ok());
    CHECK(shared_memory::attach(file->get(), layout).ok());
    layout.slots = 2;  // fits the file, but with another layout
    CHECK(shared_memory::attach(file->get(), layout).status() == UCS_ERR_INVALID_PARAM);
    layout.slots = 65;
    CHECK(shared_memory::attach(file->get(), layout).status() == UCS_ERR_INVALID_PARAM);
    layout.slots = 0;
    CHECK(shared_memory::make(layout).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("shared memory: a file has room for as many groups as all ranks expect") {
    const geometry layout = for_ranks(2);
    auto file = shared_memory::make(layout, 0, 3);
    REQUIRE(file.ok());
    for (const std::uint32_t other : {0U, 1U, 2U, 4U}) {
        const test::log_capture log;
        CHECK(shared_memory::attach(file->get(), layout, other).status() == UCS_ERR_INVALID_PARAM);
        CHECK(log.size() == 1);
    }
    auto first = shared_memory::attach(file->get(), layout, 3);
    REQUIRE(first.ok());
    std::byte* const end = first->copy(2).ring_content(1, 1) + layout.ring_bytes;
    for (std::uint32_t number = 0; number < 3; ++number)
        first->copy(number).control_of(1).entered = number + 1;
    for (std::uint32_t number = 0; number < 3; ++number)
        CHECK(first->copy(number).control_of(1).entered == number + 1);
    CHECK(first->control_of(1).entered == 1);
    const shared_memory last = first->copy(2);
    *first = shared_memory();
    end[-1] = std::byte{1};  // the mapping lives as long as a copy
    CHECK(shared_memory::make(layout, 0, 0).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("shared memory: only the first group is mapped if there is no room for all") {
    const geometry layout = for_ranks(2);
    constexpr std::uint32_t beyond_addresses = 1U << 27;
    auto file = shared_memory::make(layout, 0, beyond_addresses);
    REQUIRE(file.ok());
    auto first = shared_memory::attach(file->get(), layout, beyond_addresses);
    REQUIRE(first.ok());
    CHECK(first->copies() == 1);
    first->control_of(1).entered = 1;
}
