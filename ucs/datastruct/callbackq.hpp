// An ordered queue of progress callbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucs::datastruct {

// An ordered set of callbacks that dispatch() runs in turn. Callbacks may change the set meanwhile:
// an added callback first runs in the next round, and a removed one is not called again, not even
// later in this round. Each callback returns how many events it handled. Owner context only.
class callbackq {
public:
    using function = unsigned (*)(void* arg);
    using id = std::uint64_t;

    // Appends a callback, which stays until it is removed. O(1).
    id add(function callback, void* arg);

    // Appends a callback that is removed just before its one call.
    id add_once(function callback, void* arg);

    // Removes a callback; ignores unknown ids. O(n) in the number of callbacks.
    void remove(id handle) noexcept;

    // Removes every one-shot callback with this argument, whose object is about to be destroyed.
    void remove_once(const void* arg) noexcept;

    // Runs all callbacks in order and returns the sum of what they return.
    unsigned dispatch() {
        if (entries_.empty()) return 0;
        ++depth_;
        unsigned events = 0;
        // Callbacks may append, which can move the entries, so use indices up to the present end.
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
    std::size_t holes_ =
        0;  // removed entries that still occupy a position; their callback is nothing()
    unsigned depth_ = 0;  // nesting depth of dispatch(), which a callback may call again
    id last_ = 0;
};

}  // namespace ucs::datastruct
