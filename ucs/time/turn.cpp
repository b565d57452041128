#include "ucs/time/turn.hpp"

#include <atomic>

namespace ucs::time {
namespace {

constinit std::atomic<turn_function> simulated{nullptr};

}  // namespace

void give_turn() noexcept {
    if (const turn_function turn = simulated.load(std::memory_order_relaxed); turn != nullptr)
        turn();
}

void set_turn(turn_function turn) noexcept {
    simulated.store(turn, std::memory_order_relaxed);
}

}  // namespace ucs::time
