// Tests of the addresses of groups that are made of groups.
#include "ucg/net/address_book.hpp"

#include <catch2/catch.hpp>

using namespace ucg::net;
using ucg::schedule::rank_t;

namespace {

// The address of rank i is length bytes of i.
std::shared_ptr<full_address_book> book_of(rank_t size, std::size_t length) {
    std::vector<std::byte> all(size * length);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = static_cast<std::byte>(i / length);
    return std::make_shared<full_address_book>(std::move(all), length);
}

rank_t found(const member_addresses& group, rank_t rank) {
    std::span<const std::byte> address;
    REQUIRE(group.find(rank, address) == UCS_OK);
    REQUIRE(address.size() == 5);
    CHECK(address.front() == address.back());
    return std::to_integer<rank_t>(address.front());
}

}  // namespace

TEST_CASE(
    "member addresses: a group of a group of a group finds its ranks in the first one's book") {
    member_addresses all(book_of(9, 5), 9);
    CHECK(found(all, 0) == 0);
    CHECK(found(all, 8) == 8);
    const std::vector<rank_t> odd{7, 5, 3, 1}, some{0, 2, 3};
    const member_addresses half = all.subset(odd);
    const member_addresses quarter = half.subset(some);
    // The group that made the book is gone.
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

TEST_CASE("member addresses: all ranks in another order are another group") {
    const member_addresses all(book_of(3, 5), 3);
    const std::vector<rank_t> same{0, 1, 2}, turned{2, 0, 1}, fewer{0, 1};
    CHECK(found(all.subset(same), 1) == 1);
    CHECK(found(all.subset(turned), 0) == 2);
    CHECK(found(all.subset(turned).subset(same), 2) == 1);
    CHECK(all.subset(fewer).size() == 2);
    CHECK(found(all.subset(turned).subset(fewer), 1) == 0);
}
