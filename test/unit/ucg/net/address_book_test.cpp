// Who is found where, in groups of groups.
#include "ucg/net/address_book.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

using namespace ucg::net;
using ucg::schedule::rank_t;

namespace {

// The address of rank i is length bytes of i.
std::shared_ptr<whole_book> book_of(rank_t size, std::size_t length) {
    std::vector<std::byte> all(size * length);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = static_cast<std::byte>(i / length);
    return std::make_shared<whole_book>(std::move(all), length);
}

rank_t found(const contacts& in, rank_t rank) {
    std::span<const std::byte> address;
    REQUIRE(in.find(rank, address) == UCS_OK);
    REQUIRE(address.size() == 5);
    CHECK(address.front() == address.back());
    return std::to_integer<rank_t>(address.front());
}

}  // namespace

TEST_CASE("contacts: a group of a group of a group finds its ranks in the first one's book") {
    contacts all(book_of(9, 5), 9);
    CHECK(found(all, 0) == 0);
    CHECK(found(all, 8) == 8);
    const std::vector<rank_t> odd{7, 5, 3, 1}, some{0, 2, 3};
    const contacts half = all.of(odd);
    const contacts quarter = half.of(some);
    // The group that has made the book is gone.
    all = {};
    CHECK_FALSE(all);
    CHECK(half.size() == 4);
    CHECK(quarter.size() == 3);
    for (rank_t i = 0; i < 4; ++i)
        CHECK(found(half, i) == odd[i]);
    CHECK(found(quarter, 0) == 7);
    CHECK(found(quarter, 1) == 3);
    CHECK(found(quarter, 2) == 1);
    CHECK(half.book() == quarter.book());
}

TEST_CASE("contacts: all ranks in another order are another group") {
    const contacts all(book_of(3, 5), 3);
    const std::vector<rank_t> same{0, 1, 2}, turned{2, 0, 1}, fewer{0, 1};
    CHECK(found(all.of(same), 1) == 1);
    CHECK(found(all.of(turned), 0) == 2);
    CHECK(found(all.of(turned).of(same), 2) == 1);
    CHECK(all.of(fewer).size() == 2);
    CHECK(found(all.of(turned).of(fewer), 1) == 0);
}
