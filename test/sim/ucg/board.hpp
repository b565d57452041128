// The out-of-band exchange of a simulation.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "uct/sim/fabric.hpp"

namespace group_sim {

// An exchange in one process and in virtual time: other ranks see a contribution after a delay. A
// rank that waits for a dead rank gets an error. Owned by the run.
class board {
public:
    // `is_dead` takes a rank of the board.
    board(std::uint32_t size, const uct::sim::fabric& network, uct::sim::random& dice,
          std::function<bool(std::uint32_t)> is_dead);
    board(const board&) = delete;
    board& operator=(const board&) = delete;

    [[nodiscard]] const ucg_oob_t* member(std::uint32_t rank) const { return &members_[rank]; }

private:
    struct seat {
        board* owner;
        std::uint32_t rank;
        std::size_t rounds = 0;  // rounds begun
        void* into = nullptr;
        std::size_t bytes = 0;
        ucs_status_t failure = UCS_OK;  // permanent
    };
    struct contribution {
        bool is_posted = false;
        ucs::time::nanoseconds visible_at = 0;
        std::vector<std::byte> data;
    };
    static ucs_status_t allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                                  void** request);
    static ucs_status_t test(void* arg, void* request);
    static void release(void* arg, void* request);
    ucs_status_t test_round(seat& self);

    const uct::sim::fabric& network_;
    uct::sim::random& dice_;
    const std::function<bool(std::uint32_t)> is_dead_;
    std::vector<seat> seats_;
    std::vector<ucg_oob_t> members_;
    std::vector<std::vector<contribution>> rounds_;
};

}  // namespace group_sim
