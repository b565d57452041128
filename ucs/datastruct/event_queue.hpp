// Future events of a simulation, ordered by virtual time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace ucs::datastruct {

// Event has the members `when` and `order`, which decides between events of equal time. A 4-ary
// heap: it is half as deep as a binary heap, and siblings of small events lie in one or two cache
// lines. Owned by the simulated network.
template<class Event>
class event_queue {
public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
    // The queue must not be empty.
    [[nodiscard]] const Event& first() const noexcept { return heap_.front(); }

    void push(Event added) {
        std::size_t position = heap_.size();
        heap_.emplace_back();
        while (position != 0) {
            const std::size_t parent = (position - 1) / arity;
            if (!is_earlier(added, heap_[parent])) break;
            heap_[position] = std::move(heap_[parent]);
            position = parent;
        }
        heap_[position] = std::move(added);
    }

    // Removes the first event. The queue must not be empty.
    Event pop() {
        Event first = std::move(heap_.front());
        Event moved = std::move(heap_.back());
        heap_.pop_back();
        if (!heap_.empty()) sink(std::move(moved));
        return first;
    }

private:
    static constexpr std::size_t arity = 4;

    static bool is_earlier(const Event& a, const Event& b) noexcept {
        return a.when != b.when ? a.when < b.when : a.order < b.order;
    }

    void sink(Event moved) noexcept {
        std::size_t position = 0;
        while (true) {
            const std::size_t start = position * arity + 1;
            if (start >= heap_.size()) break;
            const std::size_t end = std::min(start + arity, heap_.size());
            std::size_t least = start;
            for (std::size_t child = start + 1; child < end; ++child)
                if (is_earlier(heap_[child], heap_[least])) least = child;
            if (!is_earlier(heap_[least], moved)) break;
            heap_[position] = std::move(heap_[least]);
            position = least;
        }
        heap_[position] = std::move(moved);
    }

    std::vector<Event> heap_;
};

}  // namespace ucs::datastruct
