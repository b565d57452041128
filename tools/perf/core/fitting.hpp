// Options that only some tests take.
#pragma once

#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// What a family of tests takes beside the options of all.
struct taken_options {
    bool matching = false;       // -C -U
    bool header = false;         // -H
    bool extra_copy = false;     // -y
    bool receive_modes = false;  // -r recv_data
    bool handles = true;         // -z: all but atomics and tests of a transport
    bool transport = false;      // -x -d -W, -D short, bcopy or zcopy
    bool protocol = true;        // -T -M -e, -D iov: all but tests of a transport
};

// Throws usage_error for an option that the test does not take: what it asks for would not happen.
void refuse_others(const test_params& params, const taken_options& takes);

}  // namespace tools::perf
