#include "tools/perf/core/test_params.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"
#include "ucs/sys/usable_memory.hpp"

using tools::perf::memory_of_buffers;

TEST_CASE("the buffers of all threads take at most an eighth of the memory") {
    const auto most = static_cast<std::size_t>(ucs::sys::usable_memory() / 8);
    CHECK(memory_of_buffers(0, most + 1) == 0);
    CHECK(memory_of_buffers(1, most) == most);
    CHECK(memory_of_buffers(2, most / 8, 4) == most / 8 * 2);
    CHECK_THROWS_AS(memory_of_buffers(1, most + 1), tools::failure);
    CHECK_THROWS_AS(memory_of_buffers(2, most / 4, 3), tools::failure);
    CHECK_THROWS_WITH(memory_of_buffers(65536, std::size_t{1} << 40, 1024),
                      Catch::Contains("65536 buffers of 1099511627776 bytes in each of 1024"));
    CHECK_THROWS_AS(memory_of_buffers(std::size_t{1} << 32, std::size_t{1} << 32), tools::failure);
}
