// Main loop of a simulation: runs its workers in a random order until a condition holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "uct/sim/fabric.hpp"

namespace uct::sim {

// Each turn, at random, either lets one worker progress or processes the fabric's next event. When
// neither has work, virtual time advances so that timers run. Owned by the test.
class driver {
public:
    using progress_function = std::function<unsigned()>;

    explicit driver(fabric& network) noexcept : fabric_(network) {}

    // Returns the worker's number, for `stop`.
    std::size_t add(progress_function progress);
    // Stops calling that worker, because it died or was destroyed.
    void stop(std::size_t worker) { workers_[worker] = nullptr; }

    // Returns true when `done` holds within `max_turns` turns. Returns false if it does not, or if
    // nothing happens for `max_idle_time` of virtual time. After false, `report` states the reason.
    bool run_until(const std::function<bool()>& done, std::size_t max_turns = 1'000'000,
                   ucs::time::nanoseconds max_idle_time = 60'000'000'000);

    // Runs until no worker has work and no event is left, except timers.
    bool run_until_quiet(std::size_t max_turns = 1'000'000);

    // Seed, time, reason of the last failure and the last events, for a test's message.
    [[nodiscard]] std::string report() const;

private:
    unsigned turn();
    unsigned poll_all();

    fabric& fabric_;
    std::vector<progress_function> workers_;
    std::string reason_;
};

}  // namespace uct::sim
