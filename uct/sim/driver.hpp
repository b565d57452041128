// Runs the workers of a simulation in a random order until something holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "uct/sim/fabric.hpp"

namespace uct::sim {

// The main loop of a simulated test: each turn either lets one worker progress or lets the
// fabric's next event happen, as the fabric's dice say. When nobody has anything to do it lets
// time pass, so that timers run. Owned by the test.
class driver {
public:
    using progress_function = std::function<unsigned()>;

    explicit driver(fabric& network) noexcept : fabric_(network) {}

    // Returns a number for `stop`.
    std::size_t add(progress_function progress);
    // Never calls that worker again (it died or was destroyed).
    void stop(std::size_t worker) { workers_[worker] = nullptr; }

    // True when `done` held within `max_turns` turns; false when it did not, or when nothing
    // happened for `max_idle_time` of virtual time. After false, `report` says why.
    bool run_until(const std::function<bool()>& done, std::size_t max_turns = 1'000'000,
                   ucs::time::nanoseconds max_idle_time = 60'000'000'000);

    // Runs until no worker finds anything and no event is left, timers not counted.
    bool run_until_quiet(std::size_t max_turns = 1'000'000);

    // Seed, time, reason of the last failure and the last events, for a test's message.
    [[nodiscard]] std::string report() const;

private:
    unsigned turn();
    unsigned poll_everybody();

    fabric& fabric_;
    std::vector<progress_function> workers_;
    std::string reason_;
};

}  // namespace uct::sim
