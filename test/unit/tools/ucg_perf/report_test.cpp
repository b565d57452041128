#include "tools/ucg_perf/report.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "tools/ucg_perf/layout.hpp"

using namespace tools::ucg_perf;

TEST_CASE("ucg_perf: percentiles are times that occurred") {
    std::vector<double> times(200);
    std::iota(times.rbegin(), times.rend(), 1.0);  // 200 to 1
    const summary of = summarise(times);
    CHECK(of.least == 1);
    CHECK(of.median == 100);
    CHECK(of.p95 == 190);
    CHECK(of.p99 == 198);
    CHECK(of.most == 200);
    CHECK(summarise({3}).p99 == 3);
    CHECK(summarise({}).most == 0);
}

TEST_CASE("ucg_perf: bandwidth of the bus") {
    CHECK(bus_factor(UCG_COLL_ALLREDUCE, 4) == 1.5);
    CHECK(bus_factor(UCG_COLL_ALLGATHER, 4) == 0.75);
    CHECK(bus_factor(UCG_COLL_REDUCE_SCATTER, 2) == 0.5);
    CHECK(bus_factor(UCG_COLL_ALLTOALL, 8) == 0.875);
    CHECK(bus_factor(UCG_COLL_BCAST, 8) == 1);
    CHECK(bus_factor(UCG_COLL_REDUCE, 8) == 1);
    CHECK(whole({UCG_COLL_ALLGATHER, 10, 0, false}, 4) == 40);
    CHECK(whole({UCG_COLL_ALLREDUCE, 10, 0, false}, 4) == 10);
    CHECK(whole({UCG_COLL_BARRIER, 0, 0, false}, 4) == 0);
}

TEST_CASE("ucg_perf: a row of values has as many as the header has names") {
    options by;
    by.standard.form = tools::output_form::csv;
    ucg_group_attr_t on = UCG_GROUP_ATTR_INIT;
    result_row of;
    of.whole = 2'000'000;
    of.times = summarise({1e-3});
    of.bus_factor = 1.5;
    of.algorithm = "ring";
    of.reason = "said \"so\"";
    const std::string text = row(by, of);
    const auto commas = [](const std::string& in) { return std::count(in.begin(), in.end(), ','); };
    CHECK(commas(text) == commas(header(by, on)));
    CHECK(text.find(",2.0000,3.0000,not compared,\"said \"\"so\"\"\"") != std::string::npos);
    by.validate = true;
    of.right = false;
    CHECK(row(by, of).find(",WRONG,") != std::string::npos);
    by.quiet = true;
    CHECK(header(by, on).empty());
}
