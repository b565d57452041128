#include "tools/perf/core/fitting.hpp"

#include <catch2/catch.hpp>

#include "tools/common/failure.hpp"

using namespace tools::perf;

TEST_CASE("options that a test does not take are refused by name") {
    test_params params;
    params.test = "stream_lat";
    CHECK_NOTHROW(refuse_others(params, {}));
    params.receive = receive_mode::recv_data;
    CHECK_NOTHROW(refuse_others(params, {.receive_modes = true}));
    CHECK_THROWS_WITH(refuse_others(params, {}), Catch::Contains("-r recv_data"));
    CHECK_THROWS_WITH(refuse_others(params, {}), Catch::Contains("stream_lat"));
}

TEST_CASE("each option has its own permission") {
    test_params params;
    SECTION("-C") {
        params.wildcard = true;
        CHECK_NOTHROW(refuse_others(params, {.matching = true}));
    }
    SECTION("-U") {
        params.unexpected = true;
        CHECK_NOTHROW(refuse_others(params, {.matching = true}));
    }
    SECTION("-H") {
        params.header = 0;
        CHECK_NOTHROW(refuse_others(params, {.header = true}));
    }
    SECTION("-y") {
        params.extra_copy = true;
        CHECK_NOTHROW(refuse_others(params, {.extra_copy = true}));
    }
    SECTION("-x") {
        params.transport = "tcp";
        CHECK_NOTHROW(refuse_others(params, {.transport = true}));
    }
    SECTION("-d") {
        params.device = "lo";
        CHECK_NOTHROW(refuse_others(params, {.transport = true}));
    }
    SECTION("-D bcopy") {
        params.operation = send_operation::bcopy;
        CHECK_NOTHROW(refuse_others(params, {.transport = true}));
    }
    SECTION("-W") {
        params.flow_window = 5;
        CHECK_NOTHROW(refuse_others(params, {.transport = true}));
    }
    CHECK_THROWS_AS(refuse_others(params, {}), tools::usage_error);
}

TEST_CASE("handles of memory are for what reads or writes registered memory") {
    test_params params;
    params.memory_handles = true;
    CHECK_NOTHROW(refuse_others(params, {}));
    CHECK_THROWS_WITH(refuse_others(params, {.handles = false}), Catch::Contains("-z"));
    CHECK_THROWS_WITH(refuse_others(params, {.transport = true, .protocol = false}),
                      Catch::Contains("-z"));
}

TEST_CASE("tests of a transport take no options of the protocol layer") {
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
    CHECK_NOTHROW(refuse_others(params, {}));
    CHECK_THROWS_AS(refuse_others(params, {.protocol = false}), tools::usage_error);
}
