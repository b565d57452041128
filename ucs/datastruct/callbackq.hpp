// The progress callbacks of a worker, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucs::datastruct {

// Ordered set of callbacks that one call runs in turn, which callbacks may change while it runs:
// what is added starts with the next round, what is removed is not called again, not even later
// in this round. Each callback returns how many events it handled. Owner context only.
class callbackq {
public:
    using function = unsigned (*)(void* arg);
    using id = std::uint64_t;

    // Appends; the callback stays until removed. O(1).
    id add(function callback, void* arg);

    // Appends a callback that is removed just before its one call.
    id add_once(function callback, void* arg);

    // O(n) in the number of callbacks; unknown ids are ignored.
    void remove(id handle) noexcept;

    // Removes every one-shot callback with this argument: its object goes away.
    void remove_once(const void* arg) noexcept;

    // Runs all callbacks in order and returns the sum of what they return.
    unsigned dispatch() {
        if (entries_.empty()) return 0;
        ++depth_;
        unsigned events = 0;
        // Callbacks may append, which can move the entries: go by index, to today's end.
        const std::size_t count = entries_.size();
        for (std::size_t i = 0; i < count; ++i) {
            events += run(i);
        }
        if (--depth_ == 0 && holes_ != 0) compact();
        return events;
    }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - holes_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

private:
    struct entry {
        function callback;
        void* arg;
        id handle;
        bool once;
    };

    static unsigned nothing(void*) noexcept { return 0; }

    unsigned run(std::size_t index) {
        const entry current = entries_[index];
        if (current.once) [[unlikely]] {
            drop(index);
        }
        return current.callback(current.arg);
    }
    id append(function callback, void* arg, bool once);
    void drop(std::size_t index) noexcept;
    void compact() noexcept;

    std::vector<entry> entries_;
    std::size_t holes_ = 0;  // removed entries that still have a place: their callback is nothing
    unsigned depth_ = 0;     // dispatch may be entered again from a callback
    id last_ = 0;
};

}  // namespace ucs::datastruct
