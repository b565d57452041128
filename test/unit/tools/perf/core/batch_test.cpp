#include "tools/perf/core/batch.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "test/support/temp_dir.hpp"
#include "tools/common/failure.hpp"

using namespace tools::perf;
using names = std::vector<std::string>;

TEST_CASE("batch lines have a name and options") {
    const auto lines = parse_batch("# sizes\n\n   8 -s 8\n\tbig -s 1m -n 5\r\n#off -s 9");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].name == "8");
    CHECK(lines[0].words == names{"-s", "8"});
    CHECK(lines[0].line_number == 3);
    CHECK(lines[1].name == "big");
    CHECK(lines[1].line_number == 4);
}

TEST_CASE("batch files combine to every combination, the last fastest") {
    const std::vector<batch_file> files{
        {"tests", "tests", parse_batch("lat -t tag_lat\nbw -t tag_bw -n 3")},
        {"sizes", "sizes", parse_batch("s8 -s 8\ns9 -s 9 -n 4")}};
    const auto cases = combine({}, files);
    REQUIRE(cases.size() == 4);
    CHECK(cases[0].names == names{"lat", "s8"});
    CHECK(cases[1].names == names{"lat", "s9"});
    CHECK(cases[2].names == names{"bw", "s8"});
    CHECK(cases[0].params.iterations == 1000000);
    CHECK(cases[2].params.iterations == 3);
    CHECK(cases[3].params.iterations == 4);
    CHECK(cases[3].params.test == "tag_bw");
    CHECK(cases[3].params.message_size() == 9);
}

TEST_CASE("overriding options replace those of batch files") {
    const std::vector<batch_file> files{
        {"tests", "tests", parse_batch("lat -t tag_lat\nbw -t tag_bw -n 3 -w 2 -s 9")}};
    const auto cases = combine({}, files, std::vector<std::string>{"-n7", "-w1"});
    REQUIRE(cases.size() == 2);
    for (const test_case& each : cases) {
        CHECK(each.params.iterations == 7);
        CHECK(each.params.warmup == 1);
    }
    CHECK(cases[1].params.message_size() == 9);
}

TEST_CASE("without batch files the command line is the only case") {
    test_params base;
    base.test = "tag_lat";
    const auto cases = combine(base, {});
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].names.empty());
}

TEST_CASE("errors in batch files name file and line") {
    const auto failing = [](const char* text) {
        const std::vector<batch_file> files{{"dir/tests", "tests", parse_batch(text)}};
        test_params base;
        base.test = "tag_lat";
        static_cast<void>(combine(base, files));
    };
    CHECK_THROWS_WITH(failing("a -s 8\nb -s x"), Catch::StartsWith("dir/tests:2: -s: \"x\""));
    CHECK_THROWS_WITH(failing("a -p 4000"), Catch::StartsWith("dir/tests:1: "));
    CHECK_THROWS_AS(failing("a host"), tools::usage_error);
}

TEST_CASE("a batch file must exist and name a test") {
    CHECK_THROWS_AS(read_batch("/nonexistent/batch"), tools::usage_error);
    CHECK_THROWS_AS(read_batch("/"), tools::usage_error);
    CHECK_THROWS_AS(read_batch("/dev/null"), tools::usage_error);
    const test::temp_dir folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    CHECK_THROWS_WITH(read_batch(folder / "pipe"), Catch::Contains("it is a pipe"));
}
