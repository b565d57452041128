
#include "test/support/descriptor_limit.hpp"
#include "ucs/net/admission.hpp"

using ucs::net::descriptor_share;

TEST_CASE("a share of the descriptors follows their limit and keeps within its bounds") {
    const test::descriptor_limit few(400);
    const std::size_t half = descriptor_share(2, 64, 16384);
    const std::size_t quarter = descriptor_share(4, 0, 1024);
    const std::size_t at_least = descriptor_share(40, 64, 1024);
    const std::size_t at_most = descriptor_share(2, 64, 150);
    CHECK(half == 200);
    CHECK(quarter == 100);
    CHECK(at_least == 64);
    CHECK(at_most == 150);
}
