// The sides of a conformance test and the loop that drives them.
#pragma once

#include <functional>

#include "test/conformance/support/side.hpp"

namespace conformance {

// Sides and their progress. Where a worker reaches only itself, all numbers name the one side.
class network {
public:
    explicit network(environment& where) : where_(where) {}

    // The side of that number, opened with the first use.
    side& at(std::size_t number);
    [[nodiscard]] bool one_side() const { return where_.reaches_only_itself(); }
    [[nodiscard]] environment& where() { return where_; }

    // Closes and forgets a side.
    void remove(std::size_t number);

    // One progress of each side; 0 when nothing was there for anybody.
    unsigned progress();

    // Progress until `done`. When nothing happens virtual time passes; the number of turns is
    // bounded, so a transport that hangs fails the case and does not hang it.
    [[nodiscard]] bool run_until(const std::function<bool()>& done);
    // Progress until nobody found anything for a while.
    void settle();

private:
    // Nobody found anything to do in this turn.
    void wait(std::size_t turn);

    environment& where_;
    std::vector<std::unique_ptr<side>> sides_;
};

}  // namespace conformance
