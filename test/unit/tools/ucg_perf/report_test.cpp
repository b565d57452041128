// Tests the output of ucg_perf.
#include "tools/ucg_perf/report.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "tools/ucg_perf/buffers.hpp"

using namespace tools::ucg_perf;

TEST_CASE("ucg_perf: percentiles are times that occurred") {
    std::vector<double> times(200);
    std::iota(times.rbegin(), times.rend(), 1.0);  // 200 to 1
    const summary result = summarise(times);
    CHECK(result.least == 1);
    CHECK(result.median == 100);
    CHECK(result.p95 == 190);
    CHECK(result.p99 == 198);
    CHECK(result.most == 200);
    CHECK(summarise({3}).p99 == 3);
    CHECK(summarise({}).most == 0);
}

TEST_CASE("ucg_perf: bus bandwidth is that of nccl-tests") {
    CHECK(bus_factor(UCG_COLL_ALLREDUCE, 4) == 1.5);
    CHECK(bus_factor(UCG_COLL_ALLGATHER, 4) == 0.75);
    CHECK(bus_factor(UCG_COLL_REDUCE_SCATTER, 2) == 0.5);
    CHECK(bus_factor(UCG_COLL_ALLTOALL, 8) == 0.875);
    CHECK(bus_factor(UCG_COLL_BCAST, 8) == 1);
    CHECK(bus_factor(UCG_COLL_REDUCE, 8) == 1);
    CHECK(total_elements({UCG_COLL_ALLGATHER, 10, 0, false}, 4) == 40);
    CHECK(total_elements({UCG_COLL_ALLREDUCE, 10, 0, false}, 4) == 10);
    CHECK(total_elements({UCG_COLL_BARRIER, 0, 0, false}, 4) == 0);
}

TEST_CASE("ucg_perf: a CSV row has as many values as the header has names") {
    options opts;
    opts.standard.form = tools::output_form::csv;
    ucg_group_attr_t on = UCG_GROUP_ATTR_INIT;
    result_row result;
    result.total_elements = 2'000'000;
    result.times = summarise({1e-3});
    result.bus_factor = 1.5;
    result.algorithm = "ring";
    result.reason = "said \"so\"";
    const std::string text = row(opts, result);
    const auto commas = [](const std::string& in) { return std::count(in.begin(), in.end(), ','); };
    CHECK(commas(text) == commas(header(opts, on)));
    CHECK(text.find(",2.0000,3.0000,not compared,\"said \"\"so\"\"\"") != std::string::npos);
    opts.validate = true;
    result.correct = false;
    CHECK(row(opts, result).find(",WRONG,") != std::string::npos);
    opts.quiet = true;
    CHECK(header(opts, on).empty());
}
