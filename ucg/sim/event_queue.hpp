// What will happen in a simulation, in the order of virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ucg/schedule/step.hpp"
#include "ucg/sim/machine.hpp"

namespace ucg::sim {

struct message;

enum class happening : std::uint8_t {
    inject,   // a message reaches the port of its node
    reach,    // its first byte reaches the port of the receiver's node
    deliver,  // it is complete, and a receive waits for it
    end,      // a step ends
    meet,     // the last rank of a node has asked for a collective of it
    finish,   // that ends for a rank
    tell,     // a rank hears that an operation failed elsewhere
    die,      // a rank dies
    notice,   // the others know
};

struct event {
    time_t when;
    std::uint64_t order;  // of those at the same time the one added first comes first
    message* subject;
    schedule::step* which;
    rank_t rank;
    happening what;
};

// A heap with four children to a node: half as deep as a binary one, and siblings lie in one or two
// cache lines. Owned by the network.
class event_queue {
public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

    void push(const event& added) {
        std::size_t at = heap_.size();
        heap_.push_back(added);
        while (at != 0) {
            const std::size_t parent = (at - 1) / arity;
            if (!earlier(added, heap_[parent])) break;
            heap_[at] = heap_[parent];
            at = parent;
        }
        heap_[at] = added;
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
        std::size_t at = 0;
        while (true) {
            const std::size_t first = at * arity + 1;
            if (first >= heap_.size()) break;
            const std::size_t end = std::min(first + arity, heap_.size());
            std::size_t least = first;
            for (std::size_t child = first + 1; child < end; ++child)
                if (earlier(heap_[child], heap_[least])) least = child;
            if (!earlier(heap_[least], moved)) break;
            heap_[at] = heap_[least];
            at = least;
        }
        heap_[at] = moved;
    }

    std::vector<event> heap_;
};

}  // namespace ucg::sim
