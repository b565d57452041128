// Deadlines in order: the next due one in O(1), add and remove in O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "ucs/datastruct/id_table.hpp"
#include "ucs/time/clock.hpp"

namespace ucs::time {

// Binary heap of deadlines with a payload each, addressed by stable ids. An id that was removed
// or has expired is refused, never mistaken for a newer timer. Owner context only.
template<class Payload>
class timer_heap {
public:
    using id = std::uint64_t;

    // 0: no memory; no id is 0.
    id add(nanoseconds deadline, Payload payload) noexcept {
        try {
            heap_.push_back(0);
        } catch (const std::bad_alloc&) {
            return 0;
        }
        const id handle = timers_.add({deadline, heap_.size() - 1, std::move(payload)});
        if (handle == 0) {
            heap_.pop_back();
            return 0;
        }
        heap_.back() = handle;
        rise(heap_.size() - 1);
        return handle;
    }

    // False when the timer is gone already.
    bool remove(id handle) noexcept {
        timer* found = timers_.find(handle);
        if (found == nullptr) return false;
        take_out(found->place);
        timers_.remove(handle);
        return true;
    }

    // Moves a timer to another deadline. False when it is gone.
    bool reschedule(id handle, nanoseconds deadline) noexcept {
        timer* found = timers_.find(handle);
        if (found == nullptr) return false;
        found->deadline = deadline;
        sink(rise(found->place));
        return true;
    }

    [[nodiscard]] Payload* find(id handle) noexcept {
        timer* found = timers_.find(handle);
        return found == nullptr ? nullptr : &found->payload;
    }

    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

    // Of the timer due next; the heap is not empty.
    [[nodiscard]] nanoseconds next_deadline() const noexcept {
        return timers_.find(heap_.front())->deadline;
    }
    [[nodiscard]] id next() const noexcept { return heap_.front(); }

private:
    struct timer {
        nanoseconds deadline;
        std::size_t place;  // index in heap_
        Payload payload;
    };

    timer& at(std::size_t place) noexcept { return *timers_.find(heap_[place]); }

    void put(std::size_t place, id handle) noexcept {
        heap_[place] = handle;
        timers_.find(handle)->place = place;
    }

    std::size_t rise(std::size_t place) noexcept {
        while (place > 0) {
            const std::size_t parent = (place - 1) / 2;
            if (at(parent).deadline <= at(place).deadline) break;
            swap_places(parent, place);
            place = parent;
        }
        return place;
    }

    void sink(std::size_t place) noexcept {
        while (true) {
            std::size_t least = place;
            for (std::size_t child = 2 * place + 1; child < 2 * place + 3; ++child) {
                if (child < heap_.size() && at(child).deadline < at(least).deadline) least = child;
            }
            if (least == place) return;
            swap_places(least, place);
            place = least;
        }
    }

    void swap_places(std::size_t a, std::size_t b) noexcept {
        const id moved = heap_[a];
        put(a, heap_[b]);
        put(b, moved);
    }

    void take_out(std::size_t place) noexcept {
        const id last = heap_.back();
        heap_.pop_back();
        if (place == heap_.size()) return;
        put(place, last);
        sink(rise(place));
    }

    datastruct::id_table<timer> timers_;
    std::vector<id> heap_;
};

}  // namespace ucs::time
