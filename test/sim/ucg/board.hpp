// How the ranks of a simulation find each other before there is a group.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "uct/sim/fabric.hpp"

namespace group_sim {

// An exchange in one process and in virtual time: what a member says is seen by the others some
// time later. Whoever waits for a dead member hears that it is gone. Owned by the run.
class board {
public:
    // `is_dead`: by place on the board.
    board(std::uint32_t size, const uct::sim::fabric& network, uct::sim::random& dice,
          std::function<bool(std::uint32_t)> is_dead);
    board(const board&) = delete;
    board& operator=(const board&) = delete;

    [[nodiscard]] const ucg_oob_t* of(std::uint32_t place) const { return &members_[place]; }

private:
    struct seat {
        board* of;
        std::uint32_t place;
        std::size_t rounds = 0;  // begun
        void* into = nullptr;
        std::size_t bytes = 0;
        ucs_status_t failure = UCS_OK;  // for ever
    };
    struct said {
        bool there = false;
        ucs::time::nanoseconds seen_at = 0;
        std::vector<std::byte> what;
    };
    static ucs_status_t allgather(void* arg, const void* send, void* recv, std::size_t bytes,
                                  void** request);
    static ucs_status_t test(void* arg, void* request);
    static void release(void* arg, void* request);
    ucs_status_t look(seat& by);

    const uct::sim::fabric& network_;
    uct::sim::random& dice_;
    const std::function<bool(std::uint32_t)> is_dead_;
    std::vector<seat> seats_;
    std::vector<ucg_oob_t> members_;
    std::vector<std::vector<said>> rounds_;
};

}  // namespace group_sim
