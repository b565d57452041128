#include "uct/sim/driver.hpp"

#include <fmt/format.h>

namespace uct::sim {

namespace {
constexpr ucs::time::nanoseconds idle_pause = 1'000'000;
}

std::size_t driver::add(progress_function progress) {
    workers_.push_back(std::move(progress));
    return workers_.size() - 1;
}

unsigned driver::poll_all() {
    unsigned events = 0;
    for (const progress_function& progress : workers_)
        events += progress ? progress() : 0;
    return events;
}

// Returns 0 if neither the chosen worker nor the fabric had work.
unsigned driver::turn() {
    const std::size_t choice = fabric_.dice().below(workers_.size() + 1);
    if (choice < workers_.size() && workers_[choice]) {
        const unsigned events = workers_[choice]();
        if (events > 0) return events;
    }
    return fabric_.step() ? 1 : 0;
}

bool driver::run_until(const std::function<bool()>& done, std::size_t max_turns,
                       ucs::time::nanoseconds max_idle_time) {
    ucs::time::nanoseconds idle = 0;
    for (std::size_t turns = 0; turns < max_turns; ++turns) {
        if (done()) return true;
        if (turn() > 0 || poll_all() > 0) {
            idle = 0;
            continue;
        }
        if (fabric_.pending_events() > 0)
            continue;  // a worker without events still posted operations
        if (idle >= max_idle_time) {
            reason_ = "nothing is left to happen";
            return done();
        }
        fabric_.advance(idle_pause);
        idle += idle_pause;
    }
    reason_ = fmt::format("not done after {} turns", max_turns);
    return done();
}

bool driver::run_until_quiet(std::size_t max_turns) {
    for (std::size_t turns = 0; turns < max_turns; ++turns) {
        if (turn() == 0 && poll_all() == 0 && fabric_.pending_events() == 0) return true;
    }
    reason_ = fmt::format("not quiet after {} turns", max_turns);
    return false;
}

std::string driver::report() const {
    return fmt::format("seed {}, virtual time {} ns, {}; last events:\n{}", fabric_.seed(),
                       fabric_.now(), reason_.empty() ? "no failure noted" : reason_,
                       fabric_.history().text());
}

}  // namespace uct::sim
