#include "tools/perf/core/supported_options.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools::perf;

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
    test_params params;
    SECTION("-C") {
        params.wildcard = true;
        CHECK_NOTHROW(refuse_unsupported(params, {.matching = true}));
    }
    SECTION("-U") {
        params.unexpected = true;
        CHECK_NOTHROW(refuse_unsupported(params, {.matching = true}));
    }
    SECTION("-H") {
        params.header = 0;
        CHECK_NOTHROW(refuse_unsupported(params, {.header = true}));
    }
    SECTION("-y") {
        params.extra_copy = true;
        CHECK_NOTHROW(refuse_unsupported(params, {.extra_copy = true}));
    }
    SECTION("-x") {
        params.transport = "tcp";
        CHECK_NOTHROW(refuse_unsupported(params, {.transport = true}));
    }
    SECTION("-d") {
        params.device = "lo";
        CHECK_NOTHROW(refuse_unsupported(params, {.transport = true}));
    }
    SECTION("-D bcopy") {
        params.operation = send_operation::bcopy;
        CHECK_NOTHROW(refuse_unsupported(params, {.transport = true}));
    }
    SECTION("-W") {
        params.flow_window = 5;
        CHECK_NOTHROW(refuse_unsupported(params, {.transport = true}));
    }
    CHECK_THROWS_AS(refuse_unsupported(params, {}), tools::usage_error);
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
    test_params params;
    SECTION("-T") {
        params.threads = 2;
    }
    SECTION("-M") {
        params.threading = thread_mode::multi;
    }
    SECTION("-e") {
        params.errors = error_handling::peer;
    }
    SECTION("-D iov") {
        params.send_layout = layout::iov;
    }
    CHECK_NOTHROW(refuse_unsupported(params, {}));
    CHECK_THROWS_AS(refuse_unsupported(params, {.protocol = false}), tools::usage_error);
}
