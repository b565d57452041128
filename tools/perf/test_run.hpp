// One side of one test, from the first object of the library to the last.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tools/perf/core/team.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/net/control.hpp"
#include "tools/perf/ucp/objects.hpp"

namespace tools::perf {

// What a test run works with besides its parameters. Borrowed.
struct run_environment {
    side part = side::both;
    control* peer = nullptr;            // null in loopback
    row_sink* rows = nullptr;           // null where nothing is measured
    bool progress_rows = false;         // rows wanted while the test runs
    const std::vector<unsigned>& cpus;  // -c
    stop_flag& stop;
};

struct outcome {
    measurement result;
    std::string extra_info;
};

// One side of one test, whichever layer it is about. Made and run once, by the main thread.
class runnable {
public:
    virtual ~runnable() = default;
    virtual outcome run() = 0;
};

// Made and run once, by the main thread; run() makes the other threads. Throws failure, or
// stopped when the peer disappeared.
class test_run final : public runnable {
public:
    test_run(const test_params& params, const run_environment& environment);

    outcome run() override;

private:
    // What one thread has.
    struct member {
        std::unique_ptr<worker> own_worker;  // null where the worker is shared
        worker* works_on = nullptr;
        std::unique_ptr<endpoint> ep;
        std::unique_ptr<workload> load;
        std::unique_ptr<meter> times;
    };

    void run_thread(unsigned index);
    void make_worker(unsigned index);
    void share_worker(unsigned index);
    void exchange_addresses();
    void connect(unsigned index);
    void measure_thread(unsigned index);
    void disconnect(unsigned index);

    // Waits for all threads here (and, `with_peer`, there) while the thread's worker progresses.
    void meet(unsigned index, bool with_peer);
    [[nodiscard]] measurement joint_result() const;

    const test_params& params_;
    const test_row& row_;
    const run_environment& with_;
    context context_;
    meeting_point meeting_;
    std::vector<member> members_;
    std::vector<blob> local_addresses_;
    std::vector<blob> peer_addresses_;
    std::string extra_info_;
};

}  // namespace tools::perf
