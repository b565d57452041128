#include "ucp/proto/rts_limit.hpp"

#include <catch2/catch.hpp>

using ucp::rts_limit;

namespace {

int fill(rts_limit& limit) {
    int count = 0;
    for (; !limit.is_reached(); ++count)
        limit.add();
    return count;
}

}  // namespace

TEST_CASE("the limit bounds the RTS messages, and each reply allows another one") {
    rts_limit limit(5);
    CHECK(fill(limit) == 5);
    limit.remove();
    limit.remove();
    CHECK(fill(limit) == 2);
}

TEST_CASE("a round can be raised once, which allows another batch beyond the present ones") {
    rts_limit limit(5);
    fill(limit);
    const std::uint32_t round = limit.round();
    CHECK(round != 0);
    CHECK(!limit.raise(0));
    CHECK(!limit.raise(round + 1));
    CHECK(limit.raise(round));
    CHECK(!limit.raise(round));
    CHECK(limit.round() != round);
    CHECK(fill(limit) == 5);
    CHECK(limit.raise(limit.round()));
    CHECK(fill(limit) == 5);
}

TEST_CASE("an allowance above the limit ends when it is not needed any more") {
    rts_limit limit(5);
    fill(limit);
    CHECK(limit.raise(limit.round()));
    fill(limit);
    for (int i = 0; i < 5; ++i)
        limit.remove();
    CHECK(fill(limit) == 5);
    for (int i = 0; i < 6; ++i)
        limit.remove();
    CHECK(fill(limit) == 1);
}

TEST_CASE("an infinite limit is never reached, and raising it does no harm") {
    rts_limit limit(~0U);
    for (int i = 0; i < 10'000; ++i)
        limit.add();
    CHECK(!limit.is_reached());
    CHECK(limit.raise(limit.round()));
    CHECK(!limit.is_reached());
}
