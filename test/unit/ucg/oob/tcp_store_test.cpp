// Tests of the store in which rank 0 keeps published blocks.
#include <malloc.h>

#include <catch2/catch.hpp>
#include <vector>

#include "ucg/oob/tcp/store.hpp"

using ucg::oob::tcp_store;

namespace {

const std::vector<std::byte> some(10, std::byte{1});

}  // namespace

TEST_CASE("store: a block is stored until all ranks have withdrawn its number or left") {
    tcp_store store(3);
    REQUIRE(store.put(7, 1, some));
    CHECK_FALSE(store.put(7, 1, some));
    REQUIRE(store.find(7, 1));
    CHECK(*store.find(7, 1) == some);
    CHECK_FALSE(store.find(7, 2));
    CHECK_FALSE(store.find(8, 1));
    store.withdraw(8, 1);  // an unknown number
    store.withdraw(7, 1);
    store.withdraw(7, 1);
    store.withdraw(7, 0);
    CHECK(store.is_open(7));
    const tcp_store::block held = store.find(7, 1);
    store.leave(2);
    CHECK_FALSE(store.is_open(7));
    CHECK_FALSE(store.find(7, 1));
    CHECK(*held == some);  // a reply that is being sent still owns the block
    // Later publications do not wait for ranks that left.
    REQUIRE(store.put(9, 0, some));
    store.withdraw(9, 1);
    CHECK(store.is_open(9));
    store.withdraw(9, 0);
    CHECK_FALSE(store.is_open(9));
}

TEST_CASE("store: a rank's memory is limited, and withdrawing frees it") {
    tcp_store store(1);
    const std::vector<std::byte> big(64 * 1024);
    std::uint64_t number = 0;
    while (store.put(number, 0, big))
        ++number;
    CHECK(number == tcp_store::max_of_rank / tcp_store::cost_of(big.size()));
    store.withdraw(3, 0);
    CHECK(store.put(number, 0, big));
    CHECK_FALSE(store.put(number + 1, 0, big));
}

TEST_CASE("store: a rank that withdraws a number and leaves counts once") {
    tcp_store store(3);
    REQUIRE(store.put(7, 0, some));
    store.withdraw(7, 1);
    store.leave(1);
    store.leave(1);
    store.withdraw(7, 1);
    CHECK(store.is_open(7));
    store.withdraw(7, 2);
    CHECK(store.is_open(7));
    store.withdraw(7, 0);
    CHECK_FALSE(store.is_open(7));
}

TEST_CASE("store: ranks that leave do not enlarge publications") {
    constexpr ucg::oob::rank_t ranks = 100;
    constexpr std::uint64_t publications = 10'000;
    tcp_store store(ranks);
    for (std::uint64_t number = 0; number < publications; ++number)
        REQUIRE(store.put(number, 1, some));
    const std::size_t before = ::mallinfo2().uordblks;  // 0 under a sanitizer
    for (ucg::oob::rank_t rank = 2; rank < ranks; ++rank)
        store.leave(rank);
    CHECK(::mallinfo2().uordblks - before < 64 * 1024);
    store.leave(1);
    CHECK(store.is_open(0));
    store.withdraw(0, 0);
    CHECK_FALSE(store.is_open(0));
}
