#include "tools/perf/ucp/progress_loop.hpp"

#include <sched.h>

namespace tools::perf {

void progress_loop::pause() {
    idle_ = 0;
    if (stop_.requested()) throw stopped();
    ::sched_yield();
}

}  // namespace tools::perf
