// Tests the sizes of blocks in ucg_perf, and how it fills its buffers.

#include "tools/ucg_perf/buffers.hpp"

#include <catch2/catch.hpp>
#include <numeric>

using namespace tools::ucg_perf;

TEST_CASE("ucg_perf: uneven blocks have the same total size as even blocks") {
    for (const ucg_coll_t collective :
         {UCG_COLL_GATHERV, UCG_COLL_ALLGATHERV, UCG_COLL_ALLTOALLV, UCG_COLL_REDUCE_SCATTER}) {
        for (const std::uint32_t ranks : {1U, 2U, 3U, 8U}) {
            const wanted_layout wanted{collective, 100, 0, false};
            const auto counts = make_layout(wanted, 0, ranks).target_counts;
            CHECK(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) ==
                  total_elements(wanted, ranks));
        }
    }
    // Two ranks have blocks of equal size for each other, or the collective could not run in place.
    for (std::uint32_t one = 0; one < 5; ++one)
        for (std::uint32_t other = 0; other < 5; ++other)
            CHECK(make_layout({UCG_COLL_ALLTOALLV, 8, 0, true}, one, 5).target_counts[other] ==
                  make_layout({UCG_COLL_ALLTOALLV, 8, 0, true}, other, 5).target_counts[one]);
}

TEST_CASE("ucg_perf: write_uniform() writes every input block") {
    const auto rank_layout = make_layout({UCG_COLL_ALLREDUCE, 5000, 0, false}, 1, 2);
    const buffers memory{page_memory(5000 * sizeof(float)), page_memory(0)};
    const auto* const source = static_cast<const float*>(memory.source.get());
    write_uniform(memory, rank_layout, UCG_TYPE_FP32, 10);
    for (std::size_t i = 0; i < 5000; ++i)
        CHECK(source[i] == 10);
    write_uniform(memory, rank_layout, UCG_TYPE_FP32, 11);
    CHECK(source[4999] == 11);
}
