// The trace of a critical path: its steps one by one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ucg/schedule/call.hpp"
#include "ucg/sim/machine.hpp"

namespace ucg::sim {

enum class trail_kind : std::uint8_t { message, reduce, copy, meeting };

struct trail_step {
    trail_kind what = trail_kind::message;
    schedule::collective met = schedule::collective::barrier;  // of a node collective
    bool between = false;                                      // a message from node to node
    rank_t rank = 0;                                           // rank on which the step ended
    rank_t from = 0;                                           // the sender
    std::uint64_t bytes = 0;                                   // bytes in memory
    time_t until = 0;
    double charged = 0;  // charged bytes
};

// Kept only if machine::trace is set. Traces of ranks and messages share their common beginning by
// reference counts, and copying a trace copies a pointer. Single-threaded.
class trail {
public:
    trail() = default;
    trail(const trail& other) noexcept : last_(other.last_) {
        if (last_ != nullptr) ++last_->owners;
    }
    trail(trail&& other) noexcept : last_(std::exchange(other.last_, nullptr)) {}
    trail& operator=(trail other) noexcept {
        std::swap(last_, other.last_);
        return *this;
    }
    ~trail() { release(last_); }

    void add(const trail_step& next) { last_ = new link{next, last_, 1}; }

    // The steps in the order of time.
    [[nodiscard]] std::vector<trail_step> steps() const {
        std::vector<trail_step> made;
        for (const link* each = last_; each != nullptr; each = each->before)
            made.push_back(each->step);
        return {made.rbegin(), made.rend()};
    }

private:
    struct link {
        trail_step step;
        link* before;
        std::uint32_t owners;
    };
    // Iterative, because traces are long.
    static void release(link* last) noexcept {
        while (last != nullptr && --last->owners == 0) {
            link* const before = last->before;
            delete last;
            last = before;
        }
    }
    link* last_ = nullptr;
};

}  // namespace ucg::sim
