// The sides of a conformance test and the loop that drives them.
#pragma once

#include <sched.h>

#include "test/conformance/support/side.hpp"
#include "test/support/memory_block.hpp"

namespace conformance {

constexpr std::size_t max_turns = 1'000'000;
constexpr std::size_t quiet_turns = 2000;
constexpr std::size_t turns_per_yield = 256;

// Sides and their progress. If a worker reaches only itself, all numbers name the one side.
class network {
public:
    explicit network(environment& where) : where_(where) {}

    // Returns the side of that number, which is opened with the first use.
    side& at(std::size_t number) {
        if (one_side()) number = 0;
        if (sides_.size() <= number) sides_.resize(number + 1);
        if (sides_[number] == nullptr) {
            sides_[number] = std::make_unique<side>(where_, 0x1000 + number);
        }
        return *sides_[number];
    }
    [[nodiscard]] bool one_side() const { return where_.reaches_only_itself(); }
    [[nodiscard]] environment& where() { return where_; }

    // Returns memory for the pieces of operations, or for what the other side accesses, of the
    // kinds of the environment.
    [[nodiscard]] test::memory_block local_block(std::span<const std::byte> content) {
        return {where_.local_memory(), content};
    }
    [[nodiscard]] test::memory_block remote_block(std::span<const std::byte> content) {
        return {where_.remote_memory(), content};
    }

    // Closes and forgets a side.
    void remove(std::size_t number) { sides_[number].reset(); }

    // Calls progress of each side once. Returns 0 if there were no events.
    unsigned progress() {
        unsigned events = 0;
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            if (sides_[i] != nullptr) events += sides_[i]->progress();
        }
        return events;
    }

    // Progresses until `done`. If nothing happens, virtual time passes. The number of turns is
    // bounded, so a transport that hangs fails the case and does not hang it.
    [[nodiscard]] bool run_until(const std::function<bool()>& done) {
        for (std::size_t turn = 0; turn < max_turns; ++turn) {
            if (done()) return true;
            if (progress() == 0) wait(turn);
        }
        return done();
    }
    // Progresses until there were no events for a while.
    void settle() {
        for (std::size_t quiet = 0; quiet < quiet_turns;) {
            const bool idle = progress() == 0;
            quiet = idle ? quiet + 1 : 0;
            if (idle) wait(quiet);
        }
    }

private:
    // Called after a turn without events.
    void wait(std::size_t turn) {
        // If the kernel transfers the data, it may need the processor that this loop uses, but on a
        // busy machine each yield costs milliseconds.
        if (!where_.pass_time() && turn % turns_per_yield == 0) sched_yield();
    }

    environment& where_;
    std::vector<std::unique_ptr<side>> sides_;
};

}  // namespace conformance
