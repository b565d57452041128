// The interface of a test: its row in the list of tests, and the workload of one thread.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <span>
#include <string_view>

#include "tools/perf/core/meter.hpp"
#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// The role of a process in a test. In loopback one process is both ends.
enum class side : std::uint8_t { initiator, responder, both };

// The objects of the library that a workload uses. Not owned; they outlive the workload.
struct connection {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    const test_params& params;
    unsigned thread;
    side part;
    stop_flag& stop;
};

// The part of a test that one thread runs. That thread creates, runs and destroys it. Functions
// throw failure for errors of the library, and stopped if the test is aborted.
class workload {
public:
    virtual ~workload() = default;

    // Runs `iterations` iterations. Reports each to `times`, which is null if this side does not
    // measure. Both sides call it with the same number. On return no operation is in flight.
    virtual void run(std::uint64_t iterations, meter* times) = 0;

    // With -V, called when both sides have finished: throws failure for wrong bytes in memory that
    // the peer accessed.
    virtual void check_memory() {}

    // Runs one more operation, and returns the library's description of it. Both sides call it.
    virtual std::string describe_operation() = 0;
};

struct transport_connection;

// A row of the list of tests.
struct test_row {
    std::string_view name;   // name for -t
    std::string_view title;  // title for the output
    quantity measured;
    std::uint64_t features;  // UCP_FEATURE_*
    std::unique_ptr<workload> (*make)(const connection& conn);
    void (*check)(const test_params& params);  // throws usage_error for options that do not fit
    // Tests of a transport set this function instead of `make`.
    std::unique_ptr<workload> (*make_on_transport)(const transport_connection& conn) = nullptr;
    bool on_shared_memory = false;  // the peer accesses memory that the interface shares

    [[nodiscard]] bool is_on_transport() const noexcept { return make_on_transport != nullptr; }
};

[[nodiscard]] std::span<const test_row> all_tests();
// The tests of put, get and atomic operations of the protocol layer.
[[nodiscard]] std::span<const test_row> remote_memory_tests() noexcept;

// Returns the test of this name. Throws usage_error if there is none.
[[nodiscard]] const test_row& find_test(std::string_view name);

// Counts the messages of one direction. The owner's thread starts them. Callbacks end them, one at
// a time, on any thread that progresses a shared worker. No locked instruction per message. A
// message may end before it is started: it may arrive before the owner waits for it.
class in_flight {
public:
    void started() noexcept { ++started_; }
    void ended_at_once() noexcept { --started_; }
    void ended_by_callback() noexcept {
        ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    [[nodiscard]] unsigned count() const noexcept {
        const auto left = static_cast<int>(started_ - ended_.load(std::memory_order_acquire));
        return left > 0 ? static_cast<unsigned>(left) : 0;
    }

private:
    unsigned started_ = 0;  // both wrap around
    std::atomic<unsigned> ended_{0};
};

}  // namespace tools::perf
