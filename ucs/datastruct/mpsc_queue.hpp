// A lock-free queue that passes elements from any thread to one owner thread.
#pragma once

#include <atomic>

namespace ucs::datastruct {

// Link member of elements that go through an mpsc_queue.
template<class T>
struct mpsc_link {
    T* next = nullptr;
};

// Lock-free intrusive queue: any thread pushes, and the owner takes all elements at once, in the
// order of the pushes. The queue owns an element from push() until take_all() visits it.
template<class T, mpsc_link<T> T::*Link>
class mpsc_queue {
public:
    mpsc_queue() noexcept = default;
    mpsc_queue(const mpsc_queue&) = delete;
    mpsc_queue& operator=(const mpsc_queue&) = delete;

    // Returns true if the queue was empty; the caller must then wake the owner.
    bool push(T& element) noexcept {
        T* head = head_.load(std::memory_order_relaxed);
        do {
            (element.*Link).next = head;
        } while (!head_.compare_exchange_weak(head, &element, std::memory_order_release,
                                              std::memory_order_relaxed));
        return head == nullptr;
    }

    // Checks the queue without taking elements: one relaxed load.
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
    // Reverses the list, which has the newest element first.
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
