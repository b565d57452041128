// Handing work from any thread to the one that owns it.
#pragma once

#include <atomic>

namespace ucs::datastruct {

// Link member of elements that go through an mpsc_queue.
template<class T>
struct mpsc_link {
    T* next = nullptr;
};

// Lock-free intrusive queue: any thread pushes, the owner takes everything at once, in the order of
// the pushes. An element belongs to the queue from push until take_all's visit.
template<class T, mpsc_link<T> T::*Link>
class mpsc_queue {
public:
    mpsc_queue() noexcept = default;
    mpsc_queue(const mpsc_queue&) = delete;
    mpsc_queue& operator=(const mpsc_queue&) = delete;

    // True when the queue was empty: the pusher then wakes the owner, others need not.
    bool push(T& element) noexcept {
        T* head = head_.load(std::memory_order_relaxed);
        do {
            (element.*Link).next = head;
        } while (!head_.compare_exchange_weak(head, &element, std::memory_order_release,
                                              std::memory_order_relaxed));
        return head == nullptr;
    }

    // Cheap look without taking: one relaxed load.
    [[nodiscard]] bool empty() const noexcept {
        return head_.load(std::memory_order_relaxed) == nullptr;
    }

    // Calls visit(T&) for each element, first pushed first. `visit` may destroy its element and
    // push others, which the next call takes. Owner only. Returns the number of elements.
    template<class Visit>
    unsigned take_all(Visit&& visit) {
        if (empty()) return 0;
        T* element = reversed(head_.exchange(nullptr, std::memory_order_acquire));
        unsigned count = 0;
        while (element != nullptr) {
            T* next = (element->*Link).next;
            visit(*element);
            element = next;
            ++count;
        }
        return count;
    }

private:
    // Pushes pile up newest first.
    static T* reversed(T* element) noexcept {
        T* result = nullptr;
        while (element != nullptr) {
            T* next = (element->*Link).next;
            (element->*Link).next = result;
            result = element;
            element = next;
        }
        return result;
    }

    std::atomic<T*> head_{nullptr};
};

}  // namespace ucs::datastruct
