#include "tools/info/options.hpp"

#include <ucp/api/ucp.h>

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools::info;

TEST_CASE("pages are selected by letters, also combined") {
    const options opts = parse_options({"-vdT", "-s"});
    CHECK((opts.version && opts.devices && opts.topology && opts.system));
    CHECK_FALSE(opts.config);
    CHECK(parse_options({"-d", "-t", "tcp"}).transport == "tcp");
}

TEST_CASE("help and version need no page") {
    CHECK(parse_options({"--help", "stray"}).standard.help);
    CHECK(parse_options({"--version"}).standard.version);
}

TEST_CASE("each option for printing the configuration implies -c") {
    for (const char* option : {"-f", "-a", "-C"})
        CHECK(parse_options({option}).config);
    CHECK(parse_options({"-F", "RNDV"}).config);
}

TEST_CASE("feature letters accumulate") {
    const options opts = parse_options({"-e", "-u", "tre", "-u", "a"});
    CHECK(opts.features ==
          (UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64));
    CHECK(opts.error_handling);
}

TEST_CASE("wrong command lines of ucx_info are refused") {
    const std::vector<std::vector<std::string>> wrong{{},
                                                      {"-p"},
                                                      {"-p", "-u", "e"},
                                                      {"-p", "-u", "z"},
                                                      {"-v", "-t", "tcp"},
                                                      {"-p", "-u", "t", "-n", "-1"},
                                                      {"-p", "-u", "t", "-D", "gpu"},
                                                      {"-p", "-u", "t", "-P", "far"},
                                                      {"-v", "stray"},
                                                      {"-A", "10.0.0.1"},
                                                      {"-m", "1k"},
                                                      {"-M"},
                                                      {"-6"},
                                                      {"--csv"}};
    for (const auto& arguments : wrong) {
        INFO((arguments.empty() ? "nothing" : arguments.back()));
        CHECK_THROWS_AS(parse_options(arguments), tools::usage_error);
    }
}
