// A test: its row in the list of tests, and one thread's part of it while it runs.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tools/perf/core/meter.hpp"
#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// Which part a process plays. In loopback one process is both ends.
enum class side : std::uint8_t { initiator, responder, both };

// What a workload works on. The handles are borrowed and outlive it.
struct connection {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    const test_params& params;
    unsigned thread;
    side part;
    stop_flag& stop;
};

// One thread's part of a test. That thread makes, runs and destroys it. Functions throw failure
// for errors of the library and stopped when the test is given up.
class workload {
public:
    virtual ~workload() = default;

    // Does that many iterations; tells `meter` of each, where this side measures (else nullptr).
    // Both sides call it with the same number. On return no operation is in flight.
    virtual void run(std::uint64_t iterations, meter* times) = 0;

    // With -V, when both sides have finished: throws failure for wrong bytes in memory that the
    // peer accessed.
    virtual void check_memory() {}

    // One more operation; returns what the library says about it in words. Both sides call it.
    virtual std::string describe_operation() = 0;
};

struct transport_connection;

// A row of the list of tests.
struct test_row {
    std::string_view name;   // of -t
    std::string_view title;  // for people
    quantity what;
    std::uint64_t features;  // UCP_FEATURE_*
    std::unique_ptr<workload> (*make)(const connection& on);
    void (*check)(const test_params& params);  // throws usage_error for options that do not fit
    // Tests of a transport are made by this one instead.
    std::unique_ptr<workload> (*make_on_transport)(const transport_connection& on) = nullptr;
    bool on_shared_memory = false;  // the peer works on memory that the interface shares

    [[nodiscard]] bool is_on_transport() const noexcept { return make_on_transport != nullptr; }
};

[[nodiscard]] std::span<const test_row> all_tests() noexcept;

// Throws usage_error for a name that is not there.
[[nodiscard]] const test_row& find_test(std::string_view name);

}  // namespace tools::perf
