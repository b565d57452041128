// Refuses options that a test does not support.
#pragma once

#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// The options that a family of tests accepts in addition to the common ones.
struct accepted_options {
    bool matching = false;       // -C -U
    bool header = false;         // -H
    bool extra_copy = false;     // -y
    bool receive_modes = false;  // -r recv_data
    bool handles = true;         // -z: all except atomics and tests of a transport
    bool transport = false;      // -x -d -W, -D short, bcopy or zcopy
    bool protocol = true;        // -T -M -e, -D iov: all except tests of a transport
};

// Throws usage_error for an option that the test does not accept, because it would have no effect.
void refuse_unsupported(const test_params& params, const accepted_options& accepted);

}  // namespace tools::perf
