// The sides of a conformance test and the loop that drives them.
#pragma once

#include "test/conformance/support/side.hpp"

namespace conformance {

// Sides and their progress. If a worker reaches only itself, all numbers name the one side.
class network {
public:
    explicit network(environment& where) : where_(where) {}

    // Returns the side of that number, which is opened with the first use.
    side& at(std::size_t number);
    [[nodiscard]] bool one_side() const { return where_.reaches_only_itself(); }
    [[nodiscard]] environment& where() { return where_; }

    // Closes and forgets a side.
    void remove(std::size_t number);

    // Calls progress of each side once. Returns 0 if there were no events.
    unsigned progress();

    // Progresses until `done`. If nothing happens, virtual time passes. The number of turns is
    // bounded, so a transport that hangs fails the case and does not hang it.
    [[nodiscard]] bool run_until(const std::function<bool()>& done);
    // Progresses until there were no events for a while.
    void settle();

private:
    // Called after a turn without events.
    void wait(std::size_t turn);

    environment& where_;
    std::vector<std::unique_ptr<side>> sides_;
};

}  // namespace conformance
