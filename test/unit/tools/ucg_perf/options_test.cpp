// Tests the command line of ucg_perf.
#include "tools/ucg_perf/options.hpp"

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"

using namespace tools::ucg_perf;

namespace {

options parse(std::string_view line) {
    return parse_options(words_of(line));
}

using sizes = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("ucg_perf: every option is parsed") {
    const options got = parse(
        "-c allreduce,bcast -s8,1k:4k -d bf16 -o maximum -r 1 -a ring,rabenseifner -iDVx -W 4 -n "
        "100 -w 7 -p 3 -C 0,2-4 -fqv -T 2.5");
    CHECK(got.collectives == std::vector{UCG_COLL_ALLREDUCE, UCG_COLL_BCAST});
    CHECK(got.sizes == sizes{8, 1024, 2048, 4096});
    CHECK(got.type == UCG_TYPE_BF16);
    CHECK(got.op == UCG_OP_MAX);
    CHECK(got.root == 1);
    CHECK(got.algorithms == std::vector<std::string>{"ring", "rabenseifner"});
    CHECK((got.in_place && got.deterministic && got.validate && got.validate_once));
    CHECK(got.in_flight == 4);
    CHECK(got.buffers == 4);
    CHECK(got.iterations == 100U);
    CHECK(got.warm_up == 7U);
    CHECK(got.ranks == 3);
    CHECK(got.processors == std::vector<unsigned>{0, 2, 3, 4});
    CHECK((got.standard.form == tools::output_form::csv && got.quiet && got.verbose));
    CHECK(got.limit == 2.5);
    CHECK(got.call_mode == mode::persistent);
}

TEST_CASE("ucg_perf: defaults without options") {
    const options got = parse("");
    CHECK(got.collectives == std::vector{UCG_COLL_ALLREDUCE});
    CHECK(got.sizes.front() == 8);
    CHECK(got.sizes.back() == 16 << 20);
    CHECK_FALSE(got.iterations.has_value());
    CHECK_FALSE(got.processors.has_value());
    // One element is larger than the smallest size.
    CHECK(parse("-d complex64").sizes.front() == 16);
    CHECK(parse("-s 1:100:10 -d int8").sizes == sizes{1, 10, 100});
    CHECK(parse("-c all").collectives.size() == UCG_COLL_LAST);
    CHECK(parse("-C auto").processors == std::vector<unsigned>{});
}

TEST_CASE("ucg_perf: the error names the wrong option") {
    for (const std::string_view wrong :
         tools::split("-c gossip|-c |-s 8:|-s 64:8|-s 0:8|-s 1:2:3:4|-s 8:64:1|-s 6|-s many|-d "
                      "fp4|-d opaque|-o user|-o bitwise_and|-c bcast,exscan -o average|-a ring,|-a "
                      "rign|-c barrier -a ring|-n 0|-t 0|-t -1|-m lazy|-W 0|-W 2 -m blocking|-p "
                      "0|-p 2 -r 2|-C 1-2-3|-C 3-1|-C |-y|-n|allreduce",
                      '|')) {
        INFO(wrong);
        CHECK_THROWS_AS(parse(wrong), tools::usage_error);
    }
    CHECK_THROWS_WITH(parse("-a rign"), Catch::StartsWith("-a: algorithm \"rign\" is none of: ") &&
                                            Catch::EndsWith("; did you mean \"ring\"?"));
    CHECK_NOTHROW(parse("-c barrier,allreduce -a ring,shared_memory"));
    // A broadcast does not reduce, so the operation does not matter.
    CHECK_NOTHROW(parse("-c bcast -o bitwise_and"));
}
