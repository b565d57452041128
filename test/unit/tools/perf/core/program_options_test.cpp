#include "tools/perf/core/program_options.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools::perf;
using cpus = std::vector<unsigned>;

TEST_CASE("the role follows from host and -l") {
    CHECK(parse_program_options({}).role == run_role::server);
    CHECK(parse_program_options({"-l", "-t", "tag_lat"}).role == run_role::loopback);
    const program_options client = parse_program_options({"-e", "node1", "-p", "4000"});
    CHECK(client.role == run_role::client);
    CHECK(client.host == "node1");
    CHECK(client.port == 4000);
    CHECK(client.test.errors == error_handling::peer);
    CHECK(parse_program_options({"-h", "-Z"}).standard.help);
    CHECK(parse_program_options({"--help"}).standard.help);
    CHECK(parse_program_options({"--version", "node1", "node2"}).standard.version);
}

TEST_CASE("IPv6 is chosen by -6 or by the address") {
    CHECK(parse_program_options({"node1", "-6"}).ipv6);
    CHECK(parse_program_options({"::1"}).ipv6);
    CHECK_FALSE(parse_program_options({"127.0.0.1"}).ipv6);
}

TEST_CASE("output and batch options") {
    const program_options options =
        parse_program_options({"-fvN", "-q", "-b", "one", "-b", "two", "-c", "0,2-4"});
    CHECK((options.style.final_only && options.style.form == tools::output_form::csv));
    CHECK((options.style.thousands && options.style.quiet));
    CHECK(options.batch == std::vector<std::string>{"one", "two"});
    CHECK(options.cpus == cpus{0, 2, 3, 4});
}

TEST_CASE("the form of the output has long names") {
    CHECK(parse_program_options({"--csv"}).style.form == tools::output_form::csv);
    CHECK(parse_program_options({"--json", "-l"}).style.form == tools::output_form::json);
    CHECK_THROWS_AS(parse_program_options({"--json", "-v"}), tools::usage_error);
}

TEST_CASE("iterations of the command line override those of batch files") {
    const program_options options = parse_program_options({"-n", "5", "-s", "8", "-w7"});
    CHECK(options.overrides == std::vector<std::string>{"-n5", "-w7"});
}

TEST_CASE("wrong command lines are refused") {
    const std::vector<std::vector<std::string>> wrong{
        {"a", "b"},    {"-l", "host"}, {"-p", "0"}, {"-p", "65536"},  {"-p", "x"}, {"-c", "x"},
        {"-c", "3-1"}, {"-c", ""},     {"-Z"},      {"-A", "signal"}, {"-o"},      {"-b"}};
    for (const auto& words : wrong) {
        INFO(words.front());
        CHECK_THROWS_AS(parse_program_options(words), tools::usage_error);
    }
}
