// A running collective of one node's ranks in the simulation (a node collective).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ucg/schedule/call.hpp"

namespace ucg::sim {

using schedule::rank_t;

// Matches the calls of all ranks of a node, in the order of their local ranks, and moves their data
// by a simple implementation. The network owns it.
class node_collective {
public:
    node_collective(schedule::sequence_t number, rank_t ranks) : number_(number), steps_(ranks) {}

    [[nodiscard]] schedule::sequence_t number() const noexcept { return number_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(steps_.size()); }
    // nullptr: the rank has not called.
    [[nodiscard]] schedule::step* step_of(rank_t local_rank) const noexcept {
        return steps_[local_rank];
    }
    [[nodiscard]] const schedule::call& call_of(rank_t local_rank) const noexcept {
        return *steps_[local_rank]->node_call;
    }
    [[nodiscard]] rank_t present() const noexcept { return present_; }
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

    void enter(rank_t local_rank, schedule::step& step);
    // Removes a rank from a collective that has not begun, or that has ended on this rank. Returns
    // true if no rank remains.
    bool leave(rank_t local_rank) noexcept;

    // True if all ranks passed matching arguments. All ranks must have called.
    [[nodiscard]] bool agrees() const noexcept;

    // Reads the input of all ranks, and reduces it. Called once.
    void read();
    [[nodiscard]] bool has_read() const noexcept { return has_read_; }
    // Writes the output of one rank.
    void write(rank_t local_rank) const noexcept;

    bool is_postponed = false;

private:
    void reduce();
    void put(rank_t local_rank, std::size_t offset, std::span<const std::byte> data) const noexcept;
    [[nodiscard]] std::span<const std::byte> piece(rank_t source, std::size_t offset,
                                                   std::size_t bytes) const noexcept;

    schedule::sequence_t number_;
    std::vector<schedule::step*> steps_;
    rank_t present_ = 0;
    bool is_complete_ = false;
    bool has_read_ = false;
    std::vector<std::vector<std::byte>> inputs_;
    std::vector<std::byte> reduced_;
};

// Fills with garbage all of the output that the call may write from its beginning on: the part that
// is not input as well.
void spoil_output(const schedule::call& args, rank_t local_rank, rank_t ranks) noexcept;

}  // namespace ucg::sim
