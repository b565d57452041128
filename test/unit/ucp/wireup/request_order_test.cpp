// Tests that connection requests of a sender are accepted in order, each one once.
#include "ucp/wireup/request_order.hpp"

#include <catch2/catch.hpp>
#include <cstring>

namespace {

using ucp::wireup::request_order;

ucs::security::public_key key(unsigned number) {
    ucs::security::public_key made{};
    made.back() = static_cast<std::byte>(number);
    return made;
}

}  // namespace

TEST_CASE("a request is accepted once, and an older one never") {
    request_order order;
    CHECK_FALSE(order.take(key(1), 0));
    CHECK(order.take(key(1), 7));
    CHECK_FALSE(order.take(key(1), 7));
    CHECK_FALSE(order.take(key(1), 6));
    CHECK(order.take(key(1), 8));
    CHECK(order.take(key(1), (std::uint64_t{1} << 56) - 1));
    // The numbers of other senders are independent.
    CHECK(order.take(key(2), 7));
}

TEST_CASE("a set remembers a bounded number of senders, the latest ones") {
    constexpr unsigned most = request_order::senders_of_set;
    request_order order(most);
    for (unsigned sender = 1; sender <= most; ++sender)
        REQUIRE(order.take(key(sender), 5));
    // A request that is not accepted counts as a use as well.
    CHECK_FALSE(order.take(key(1), 5));
    CHECK(order.take(key(most + 1), 5));
    CHECK_FALSE(order.take(key(1), 5));
    for (unsigned sender = 3; sender <= most + 1; ++sender)
        CHECK_FALSE(order.take(key(sender), 5));
    CHECK(order.take(key(2), 5));
}

TEST_CASE("the table remembers half as many senders as it has places") {
    request_order order;
    const auto key_of = [](std::size_t number) {
        ucs::security::public_key made{};
        std::memcpy(made.data() + 24, &number, sizeof number);
        return made;
    };
    constexpr std::size_t senders = request_order::most_senders / 2;
    for (std::size_t sender = 0; sender < senders; ++sender)
        REQUIRE(order.take(key_of(sender), 5));
    std::size_t forgotten = 0;
    for (std::size_t sender = senders; sender-- > 0;)
        if (order.take(key_of(sender), 5)) ++forgotten;
    // Some sets fill up sooner than others: about 1 % of the senders are forgotten.
    CHECK(forgotten < senders / 10);
}

TEST_CASE("numbers of sent requests start at 1 and rise") {
    request_order order;
    CHECK(order.next() == 1);
    CHECK(order.next() == 2);
}
