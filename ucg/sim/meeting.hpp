// A collective of a node under way in the simulation.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ucg/schedule/call.hpp"

namespace ucg::sim {

using schedule::rank_t;

// The calls of all ranks of a node that belong together, in the order of their places there, and
// the data between them, by a plain implementation. Owned by the network.
class meeting {
public:
    meeting(schedule::sequence_t number, rank_t ranks) : number_(number), steps_(ranks) {}

    [[nodiscard]] schedule::sequence_t number() const noexcept { return number_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(steps_.size()); }
    // nullptr: has not asked.
    [[nodiscard]] schedule::step* step_of(rank_t place) const noexcept { return steps_[place]; }
    [[nodiscard]] const schedule::call& call_of(rank_t place) const noexcept {
        return *steps_[place]->asked;
    }
    [[nodiscard]] rank_t present() const noexcept { return present_; }
    [[nodiscard]] bool complete() const noexcept { return complete_; }

    void enter(rank_t place, schedule::step& asked);
    // Of one that has not begun, or of one that has ended for that rank. Whether nobody is left.
    bool leave(rank_t place) noexcept;

    // All have asked: whether they agree on what.
    [[nodiscard]] bool agrees() const noexcept;

    // Reads everybody's input, and reduces. Once.
    void read();
    [[nodiscard]] bool has_read() const noexcept { return read_; }
    // Writes the output of one rank.
    void write(rank_t place) const noexcept;

    bool postponed = false;

private:
    void reduce();
    void put(rank_t place, std::size_t offset, std::span<const std::byte> what) const noexcept;
    [[nodiscard]] std::span<const std::byte> piece(rank_t of, std::size_t offset,
                                                   std::size_t bytes) const noexcept;

    schedule::sequence_t number_;
    std::vector<schedule::step*> steps_;
    rank_t present_ = 0;
    bool complete_ = false;
    bool read_ = false;
    std::vector<std::vector<std::byte>> inputs_;
    std::vector<std::byte> reduced_;
};

// Fills with garbage what the call may write from its beginning on: all of the output that is not
// input as well.
void spoil_output(const schedule::call& what, rank_t place, rank_t ranks) noexcept;

}  // namespace ucg::sim
