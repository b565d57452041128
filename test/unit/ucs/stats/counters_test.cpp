#include "ucs/stats/counters.hpp"

#include <catch2/catch.hpp>
#include <thread>

enum class traffic { packets, bytes };

template<>
inline constexpr auto ucs::stats::names<traffic> = std::to_array<std::string_view>({"packets",
                                                                                    "bytes"});

TEST_CASE("counters add up, and other threads may read them") {
    ucs::stats::counters<traffic> counters;
    std::uint64_t last = 0;
    bool fell = false;
    std::thread reader([&] {
        while (last < 100000) {
            const std::uint64_t current = counters[traffic::packets].get();
            fell = fell || current < last;
            last = current;
        }
    });
    for (int i = 0; i < 100000; ++i)
        counters[traffic::packets].add();
    reader.join();
    CHECK_FALSE(fell);
    counters[traffic::bytes].add(10);
    CHECK(counters[traffic::bytes].get() == 10);
}

TEST_CASE("counters appear as files and can be reset") {
    ucs::stats::counters<traffic> counters;
    counters[traffic::bytes].add(7);
    ucs::vfs::directory folder;
    counters.describe(folder);
    REQUIRE(folder.entries().size() == 2);
    const auto& bytes = folder.entries()[1];
    CHECK(bytes.name == "bytes");
    CHECK(bytes.read() == "7\n");
    CHECK(bytes.write("3") == UCS_ERR_INVALID_PARAM);
    CHECK(bytes.write("0\n") == UCS_OK);
    CHECK(counters[traffic::bytes].get() == 0);
}
