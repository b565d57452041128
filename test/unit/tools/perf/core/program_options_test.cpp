#include "tools/perf/core/program_options.hpp"

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"

using namespace tools::perf;
using cpus = std::vector<unsigned>;

namespace {

program_options parse(std::string_view line) {
    return parse_program_options(words_of(line));
}

}  // namespace

TEST_CASE("the role follows from host and -l") {
    CHECK(parse("").role == run_role::server);
    CHECK(parse("-l -t tag_lat").role == run_role::loopback);
    const program_options client = parse("-e node1 -p 4000");
    CHECK(client.role == run_role::client);
    CHECK(client.host == "node1");
    CHECK(client.port == 4000);
    CHECK(client.test.errors == error_handling::peer);
    CHECK(parse("-h -Z").standard.help);
    CHECK(parse("--help").standard.help);
    CHECK(parse("--version node1 node2").standard.version);
}

TEST_CASE("IPv6 is chosen by -6 or by the address") {
    CHECK(parse("node1 -6").ipv6);
    CHECK(parse("::1").ipv6);
    CHECK_FALSE(parse("127.0.0.1").ipv6);
}

TEST_CASE("output and batch options") {
    const program_options options = parse("-fvN -q -b one -b two -c 0,2-4");
    CHECK((options.style.final_only && options.style.form == tools::output_form::csv));
    CHECK((options.style.thousands && options.style.quiet));
    CHECK(options.batch == std::vector<std::string>{"one", "two"});
    CHECK(options.cpus == cpus{0, 2, 3, 4});
}

TEST_CASE("the form of the output has long names") {
    CHECK(parse("--csv").style.form == tools::output_form::csv);
    CHECK(parse("--json -l").style.form == tools::output_form::json);
    CHECK_THROWS_AS(parse("--json -v"), tools::usage_error);
}

TEST_CASE("iterations of the command line override those of batch files") {
    const program_options options = parse("-n 5 -s 8 -w7");
    CHECK(options.overrides == std::vector<std::string>{"-n5", "-w7"});
}

TEST_CASE("wrong command lines are refused") {
    for (const std::string_view wrong :
         tools::split("a b|-l host|-p 0|-p 65536|-p x|-c x|-c 3-1|-c |-Z|-A signal|-o|-b", '|')) {
        INFO(wrong);
        CHECK_THROWS_AS(parse(wrong), tools::usage_error);
    }
}
