// A heap of timers: the next deadline in O(1), add and remove in O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ucs/datastruct/id_table.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/type/allocated.hpp"

namespace ucs::time {

// Binary heap of deadlines with a payload each, addressed by stable ids. An id that was removed
// or has expired is refused, never mistaken for a newer timer. Owner context only.
template<class Payload>
class timer_heap {
public:
    using id = std::uint64_t;

    // Returns 0 if there is no memory; no id is 0.
    id add(nanoseconds deadline, Payload payload) noexcept {
        if (!allocated([&] { heap_.push_back(0); })) return 0;
        const id handle = timers_.add({deadline, heap_.size() - 1, std::move(payload)});
        if (handle == 0) {
            heap_.pop_back();
            return 0;
        }
        heap_.back() = handle;
        rise(heap_.size() - 1);
        return handle;
    }

    // Returns false if the timer has gone already.
    bool remove(id handle) noexcept {
        timer* found = timers_.find(handle);
        if (found == nullptr) return false;
        take_out(found->index);
        timers_.remove(handle);
        return true;
    }

    // Moves a timer to another deadline. Returns false if the timer has gone.
    bool reschedule(id handle, nanoseconds deadline) noexcept {
        timer* found = timers_.find(handle);
        if (found == nullptr) return false;
        found->deadline = deadline;
        sink(rise(found->index));
        return true;
    }

    [[nodiscard]] Payload* find(id handle) noexcept {
        timer* found = timers_.find(handle);
        return found == nullptr ? nullptr : &found->payload;
    }

    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

    // The earliest deadline; the heap must not be empty.
    [[nodiscard]] nanoseconds next_deadline() const noexcept {
        return timers_.find(heap_.front())->deadline;
    }
    [[nodiscard]] id next() const noexcept { return heap_.front(); }

private:
    struct timer {
        nanoseconds deadline;
        std::size_t index;  // position in heap_
        Payload payload;
    };

    timer& at(std::size_t index) noexcept { return *timers_.find(heap_[index]); }

    void put(std::size_t index, id handle) noexcept {
        heap_[index] = handle;
        timers_.find(handle)->index = index;
    }

    std::size_t rise(std::size_t index) noexcept {
        while (index > 0) {
            const std::size_t parent = (index - 1) / 2;
            if (at(parent).deadline <= at(index).deadline) break;
            swap_entries(parent, index);
            index = parent;
        }
        return index;
    }

    void sink(std::size_t index) noexcept {
        while (true) {
            std::size_t least = index;
            for (std::size_t child = 2 * index + 1; child < 2 * index + 3; ++child) {
                if (child < heap_.size() && at(child).deadline < at(least).deadline) least = child;
            }
            if (least == index) return;
            swap_entries(least, index);
            index = least;
        }
    }

    void swap_entries(std::size_t a, std::size_t b) noexcept {
        const id moved = heap_[a];
        put(a, heap_[b]);
        put(b, moved);
    }

    void take_out(std::size_t index) noexcept {
        const id last = heap_.back();
        heap_.pop_back();
        if (index == heap_.size()) return;
        put(index, last);
        sink(rise(index));
    }

    datastruct::id_table<timer> timers_;
    std::vector<id> heap_;
};

}  // namespace ucs::time
