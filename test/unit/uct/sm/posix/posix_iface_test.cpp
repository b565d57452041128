#include "uct/sm/posix/posix_iface.hpp"

#include "test/unit/uct/sm/posix/fixture.hpp"

using namespace uct;
using namespace uct::posix::test;

TEST_CASE("posix: what is sent before the peer looked arrives in order and unchanged", "[posix]") {
    node a, b;
    auto ep = a.connect_to(b);
    std::vector<std::string> expected;
    for (const std::size_t size : {0UL, 1UL, 3UL, 4UL, 7UL, 8UL, 15UL, 16UL, 31UL, 32UL, 33UL, 47UL,
                                   48UL, 49UL, 100UL, 4000UL, 8240UL}) {
        const std::string text(size, static_cast<char>('a' + size % 26));
        REQUIRE(send(*ep, 1, size, text) == UCS_OK);
        expected.push_back(with_header(size, text));
        REQUIRE(send_packed(*ep, 2, text) == static_cast<ssize_t>(size));
        expected.push_back(text);
    }
    while (b.received.size() < expected.size())
        b.progress();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(b.received[i].id == 1 + i % 2);
        CHECK(b.received[i].bytes == expected[i]);
    }
}
