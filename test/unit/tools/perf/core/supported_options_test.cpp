#include "tools/perf/core/supported_options.hpp"

#include <catch2/catch.hpp>

#include "test/unit/tools/words_of.hpp"
#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"

using namespace tools::perf;

namespace {

test_params parse(std::string_view line) {
    test_params params;
    apply_test_words(params, words_of(line));
    return params;
}

}  // namespace

TEST_CASE("options that a test does not support are refused by name") {
    test_params params;
    params.test = "stream_lat";
    CHECK_NOTHROW(refuse_unsupported(params, {}));
    params.receive = receive_mode::recv_data;
    CHECK_NOTHROW(refuse_unsupported(params, {.receive_modes = true}));
    CHECK_THROWS_WITH(refuse_unsupported(params, {}), Catch::Contains("-r recv_data"));
    CHECK_THROWS_WITH(refuse_unsupported(params, {}), Catch::Contains("stream_lat"));
}

TEST_CASE("each option has its own permission") {
    const std::pair<const char*, accepted_options> rows[] = {
        {"-C", {.matching = true}},
        {"-U", {.matching = true}},
        {"-H 0", {.header = true}},
        {"-y", {.extra_copy = true}},
        {"-x tcp", {.transport = true}},
        {"-d lo", {.transport = true}},
        {"-D bcopy", {.transport = true}},
        {"-W 5", {.transport = true}},
        {"-r recv_data", {.receive_modes = true}}};
    for (const auto& [line, accepted] : rows) {
        const test_params params = parse(line);
        CHECK_NOTHROW(refuse_unsupported(params, accepted));
        CHECK_THROWS_AS(refuse_unsupported(params, {}), tools::usage_error);
    }
}

TEST_CASE("memory handles are only for tests of registered memory") {
    test_params params;
    params.memory_handles = true;
    CHECK_NOTHROW(refuse_unsupported(params, {}));
    CHECK_THROWS_WITH(refuse_unsupported(params, {.handles = false}), Catch::Contains("-z"));
    CHECK_THROWS_WITH(refuse_unsupported(params, {.transport = true, .protocol = false}),
                      Catch::Contains("-z"));
}

TEST_CASE("tests of a transport refuse options of the protocol layer") {
    for (const char* const line : {"-T 2", "-M multi", "-e", "-D iov"}) {
        const test_params params = parse(line);
        CHECK_NOTHROW(refuse_unsupported(params, {}));
        CHECK_THROWS_AS(refuse_unsupported(params, {.protocol = false}), tools::usage_error);
    }
}
