#include "test/conformance/support/network.hpp"

#include <sched.h>

namespace conformance {

namespace {
constexpr std::size_t max_turns = 1'000'000;
constexpr std::size_t quiet_turns = 2000;
constexpr std::size_t turns_per_yield = 256;
}  // namespace

side& network::at(std::size_t number) {
    if (one_side()) number = 0;
    if (sides_.size() <= number) sides_.resize(number + 1);
    if (sides_[number] == nullptr) {
        sides_[number] = std::make_unique<side>(where_, 0x1000 + number);
    }
    return *sides_[number];
}

void network::remove(std::size_t number) {
    sides_[number].reset();
}

unsigned network::progress() {
    unsigned events = 0;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        if (sides_[i] != nullptr) events += sides_[i]->progress();
    }
    return events;
}

void network::wait(std::size_t turn) {
    // If the kernel transfers the data, it may need the processor that this loop uses, but on a
    // busy machine each yield costs milliseconds.
    if (!where_.pass_time() && turn % turns_per_yield == 0) sched_yield();
}

bool network::run_until(const std::function<bool()>& done) {
    for (std::size_t turn = 0; turn < max_turns; ++turn) {
        if (done()) return true;
        if (progress() == 0) wait(turn);
    }
    return done();
}

void network::settle() {
    for (std::size_t quiet = 0; quiet < quiet_turns;) {
        const bool idle = progress() == 0;
        quiet = idle ? quiet + 1 : 0;
        if (idle) wait(quiet);
    }
}

}  // namespace conformance
