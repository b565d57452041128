// The environment and the outcome of one test, for tests of any layer.
#pragma once

#include "tools/perf/core/team.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/net/control.hpp"

namespace tools::perf {

// The objects that a test run uses, and the role of this process. The run does not own them.
struct run_environment {
    side part = side::both;             // role of this process
    control* peer = nullptr;            // null in loopback
    row_sink* rows = nullptr;           // null if this side does not measure
    bool progress_rows = false;         // whether to report rows during the test
    const std::vector<unsigned>& cpus;  // processors of option -c for the threads
    stop_flag& stop;
};

struct outcome {
    measurement result;
    std::string extra_info;
};

// One side of one test, of any layer. The main thread creates it and runs it once.
class runnable {
public:
    virtual ~runnable() = default;
    virtual outcome run() = 0;
};

}  // namespace tools::perf
