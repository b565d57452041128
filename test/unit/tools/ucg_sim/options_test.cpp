// Tests the command line of ucg_sim.
#include "tools/ucg_sim/options.hpp"

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"

using namespace tools::ucg_sim;

namespace {

options parse(std::string_view line) {
    return parse_options(words_of(line));
}

}  // namespace

TEST_CASE("ucg_sim: options describe the machine and what runs on it") {
    const options got = parse("-c alltoall -n 512 -p8 -e 2000:25::300 -s 8,1k-4k -a bruck -v");
    CHECK(got.collectives == std::vector{ucg::schedule::collective::alltoall});
    CHECK(got.on.ranks == 512);
    CHECK(got.on.ranks_per_node == 8);
    CHECK(got.on.between.latency == 2000);
    CHECK(got.on.between.bandwidth == 25e9);
    CHECK(got.on.between.send_overhead == 250);
    CHECK(got.on.between.receive_overhead == 300);
    CHECK(got.sizes == std::vector<double>{8, 1024, 2048, 4096});
    CHECK(got.algorithm == "bruck");
    CHECK(got.standard.form == tools::output_form::csv);
    CHECK(parse("-c all").collectives.size() == ucg::schedule::collective_count);
}

TEST_CASE("ucg_sim: options place ranks on nodes") {
    const options sizes = parse("--nodes 3,1,2 --leaders 2 --steps --ports");
    CHECK(sizes.ports);
    CHECK(sizes.on.ranks == 6);
    CHECK(sizes.cutting.leaders == 2);
    const auto uneven = machine_of(sizes, 6);
    CHECK(uneven.nodes == std::vector<std::uint64_t>{0, 0, 0, 1, 2, 2});
    CHECK(uneven.trace);
    const options cyclic = parse("-n 4-8,3 -p 2 -N cyclic");
    CHECK(cyclic.groups == std::vector<ucg::schedule::rank_t>{4, 8, 3});
    CHECK(machine_of(cyclic, 5).nodes == std::vector<std::uint64_t>{0, 1, 2, 0, 1});
    CHECK(parse("-f 300").on.flag == 300);
    CHECK(parse("-f :7").on.flag_read == 7);
}

TEST_CASE("ucg_sim: exchanges of a mixture of experts") {
    const options one = parse("-c moe_combine --tokens 64 -K4 --experts 2");
    CHECK(one.collectives.empty());
    CHECK(one.exchanges == std::vector{ucg::sim::exchange::moe_combine});
    CHECK(one.moe.tokens == 64);
    CHECK(one.moe.k == 4);
    CHECK(one.moe.experts == 2);
    CHECK(parse("-c moe_ll_dispatch").exchanges ==
          std::vector{ucg::sim::exchange::moe_ll_dispatch});
    CHECK(parse("-c moe").exchanges.size() == ucg::sim::exchange_count);
    CHECK(parse("-c all").exchanges.empty());
    CHECK(parse("").exchanges.empty());
}

TEST_CASE("ucg_sim: wrong options are refused") {
    for (const std::string_view wrong : tools::split(
             "-n 0|-n 16385|-c gossip|-s 8-|-s 64-8|-s 1-2-3|-e a|-e 1:0|-i 1:2:3:4:5:6|-R 0|-r "
             "64|-d -1|allreduce|-s 0-8|-n 8-4|-n 1-2-3|-N 8,0|-N round|-L 0|-f 1:2:3|-N "
             "16384,1|-T 0|-K 1025|-E 0|-c moe -n 4096|-c moe -n 2 -E 1",
             '|')) {
        INFO(wrong);
        CHECK_THROWS_AS(parse(wrong), tools::usage_error);
    }
}
