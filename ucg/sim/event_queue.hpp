// Future events of a simulation, ordered by virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ucg/schedule/step.hpp"
#include "ucg/sim/machine.hpp"

namespace ucg::sim {

struct message;

enum class event_kind : std::uint8_t {
    inject,             // a message reaches the sender's port
    reach,              // the first byte reaches the receiver's port
    deliver,            // the message is complete, and its receive is posted
    end_step,           // a step ends
    begin_collective,   // the last rank of a node has called a node collective
    finish_collective,  // a node collective ends on one rank
    notify_failure,     // a rank is notified that an operation failed on another rank
    die,                // a rank dies
    detect_death,       // the other ranks detect the death
};

struct event {
    time_t when;
    std::uint64_t order;  // insertion number: events of equal time keep their order
    message* subject;
    schedule::step* step;
    rank_t rank;
    event_kind kind;
};

// A 4-ary heap: it is half as deep as a binary heap, and siblings lie in one or two cache lines.
// The network owns it.
class event_queue {
public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

    void push(const event& added) {
        std::size_t position = heap_.size();
        heap_.push_back(added);
        while (position != 0) {
            const std::size_t parent = (position - 1) / arity;
            if (!earlier(added, heap_[parent])) break;
            heap_[position] = heap_[parent];
            position = parent;
        }
        heap_[position] = added;
    }

    event pop() {
        const event first = heap_.front();
        const event moved = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(moved);
        return first;
    }

private:
    static constexpr std::size_t arity = 4;

    static bool earlier(const event& a, const event& b) noexcept {
        return a.when != b.when ? a.when < b.when : a.order < b.order;
    }

    void sink(const event& moved) noexcept {
        std::size_t position = 0;
        while (true) {
            const std::size_t first = position * arity + 1;
            if (first >= heap_.size()) break;
            const std::size_t end = std::min(first + arity, heap_.size());
            std::size_t least = first;
            for (std::size_t child = first + 1; child < end; ++child)
                if (earlier(heap_[child], heap_[least])) least = child;
            if (!earlier(heap_[least], moved)) break;
            heap_[position] = heap_[least];
            position = least;
        }
        heap_[position] = moved;
    }

    std::vector<event> heap_;
};

}  // namespace ucg::sim
