#include "uct/sm/memory/mapped_memory.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "test/support/log_capture.hpp"

using namespace uct::sm;

TEST_CASE("a key to a block that does not begin with a page is refused", "[uct][sm]") {
    const auto owned = share_block(4096);
    REQUIRE(owned.ok());
    REQUIRE(mapped_memory::attach(owned->key, uct::memory_access::change).ok());
    const test::log_capture log;
    for (const std::uint64_t offset : {1U, 4U, 8U, 2048U}) {
        std::vector<std::byte> odd = owned->key;
        std::uint64_t base = 0;
        std::memcpy(&base, odd.data(), sizeof base);
        base += offset;
        std::memcpy(odd.data(), &base, sizeof base);
        CAPTURE(offset);
        CHECK(mapped_memory::attach(odd, uct::memory_access::change).status() ==
              UCS_ERR_INVALID_PARAM);
    }
    CHECK(log.count("malformed") == 4);
}
