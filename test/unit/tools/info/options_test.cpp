#include "tools/info/options.hpp"

#include <ucp/api/ucp.h>

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"

using namespace tools::info;

namespace {

options parse(std::string_view line) {
    return parse_options(words_of(line));
}

}  // namespace

TEST_CASE("pages are selected by letters, also combined") {
    const options opts = parse("-vdT -s");
    CHECK((opts.version && opts.devices && opts.topology && opts.system));
    CHECK_FALSE(opts.config);
    CHECK(parse("-d -t tcp").transport == "tcp");
}

TEST_CASE("help and version need no page") {
    CHECK(parse("--help stray").standard.help);
    CHECK(parse("--version").standard.version);
}

TEST_CASE("each option for printing the configuration implies -c") {
    for (const char* option : {"-f", "-a", "-C"})
        CHECK(parse(option).config);
    CHECK(parse("-F RNDV").config);
}

TEST_CASE("feature letters accumulate") {
    const options opts = parse("-e -u tre -u a");
    CHECK(opts.features ==
          (UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64));
    CHECK(opts.error_handling);
}

TEST_CASE("wrong command lines of ucx_info are refused") {
    for (const std::string_view wrong :
         tools::split("|-p|-p -u e|-p -u z|-v -t tcp|-p -u t -n -1|-p -u t -D gpu|-p -u t -P "
                      "far|-v stray|-A 10.0.0.1|-m 1k|-M|-6|--csv",
                      '|')) {
        INFO(wrong);
        CHECK_THROWS_AS(parse(wrong), tools::usage_error);
    }
}
