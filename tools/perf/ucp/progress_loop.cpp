#include "tools/perf/ucp/progress_loop.hpp"

#include <sched.h>

#include "tools/common/failure.hpp"

namespace tools::perf {

void progress_loop::pause() {
    idle_ = 0;
    if (stop_.requested()) throw stopped();
    ::sched_yield();
}

void progress_loop::sleep() {
    if (ucp_worker_progress(worker_) != 0) return;
    if (stop_.requested()) throw stopped();
    require_ok(ucp_worker_wait(worker_), "ucp_worker_wait");
}

void progress_loop::wake() noexcept {
    ucp_worker_signal(worker_);
}

}  // namespace tools::perf
