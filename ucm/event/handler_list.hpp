// List of the handlers of memory events.
#pragma once

#include <pthread.h>

#include "ucm/api/ucm.h"

namespace ucm {

inline constexpr int event_flags = UCM_EVENT_FLAG_NO_INSTALL | UCM_EVENT_FLAG_EXISTING_ALLOC;
// All bits that are valid in an `events` argument of the API.
inline constexpr int known_bits =
    event_flags | UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT |
    UCM_EVENT_SHMDT | UCM_EVENT_SBRK | UCM_EVENT_MADVISE | UCM_EVENT_BRK | UCM_EVENT_VM_MAPPED |
    UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MEM_TYPE_ALLOC | UCM_EVENT_MEM_TYPE_FREE;

// Holds the handlers in the order in which they run, and the kinds of events that the program
// reports itself (ucm_set_external_event). There is one list in the process; any thread may use it.
// The list never calls malloc. dispatch() waits neither for other callers nor for a thread that
// adds a handler. remove() waits until no handler is running, so that the caller may free what its
// handler uses. A handler that calls remove() does not wait for handlers in other threads. The
// class is trivially destructible, because events may come until the process ends.
class handler_list {
public:
    constexpr handler_list() noexcept = default;
    handler_list(const handler_list&) = delete;
    handler_list& operator=(const handler_list&) = delete;

    // `detected` are the kinds of events that this library detects itself. Returns
    // UCS_ERR_UNSUPPORTED if an event is neither detected nor declared external, unless `events`
    // contains UCM_EVENT_FLAG_NO_INSTALL.
    ucs_status_t add(int events, int detected, int priority, ucm_event_callback_t callback,
                     void* arg) noexcept;
    void remove(int events, ucm_event_callback_t callback, void* arg) noexcept;

    void declare_external(int events) noexcept;
    void withdraw_external(int events) noexcept;
    [[nodiscard]] int external() const noexcept;

    // Returns the kinds of events for which a handler was accepted because replaced functions
    // detect them. A kind stays in this set after its handler is removed, because the functions
    // stay replaced.
    [[nodiscard]] int promised() const noexcept;

    // Returns true if this thread is calling a handler now.
    [[nodiscard]] static bool is_notifying() noexcept;

    // Must be called in the child of a fork. Resets the locks, because the threads that held them
    // do not exist in the child. The list can be walked in any state in which those threads left
    // it.
    void forget_other_threads() noexcept;

    // Returns the kinds of events that at least one handler wants.
    [[nodiscard]] int wanted() const noexcept {
        return __atomic_load_n(&wanted_, __ATOMIC_ACQUIRE);
    }

    // Calls the handlers of negative priority, then `original(event)`, then the other handlers.
    template<class Original>
    void dispatch(ucm_event_type_t type, ucm_event_t& event, Original&& original) const noexcept {
        // If no handler wants the event, this thread holds no lock during the call.
        if (!is_wanted(type)) return static_cast<void>(original(event));
        const notify_guard now(*this);
        const handler* rest = notify_before(type, event);
        original(event);
        notify_rest(rest, type, event);
    }

    void dispatch(ucm_event_type_t type, ucm_event_t& event) const noexcept {
        dispatch(type, event, [](ucm_event_t&) {});
    }

private:
    // `events` and `next` may change while other threads walk the list; the other members are set
    // before the handler is linked.
    struct handler {
        int events;  // 0: removed
        int priority;
        ucm_event_callback_t callback;
        void* arg;
        handler* next;
    };

    // Holds the read lock, which keeps the handlers in the list. A handler may map or unmap memory,
    // so that its thread locks again. Therefore the lock must admit readers while a writer waits,
    // as the default kind of pthread_rwlock_t does.
    class notify_guard {
    public:
        explicit notify_guard(const handler_list& list) noexcept;
        ~notify_guard();
        notify_guard(const notify_guard&) = delete;
        notify_guard& operator=(const notify_guard&) = delete;

    private:
        const handler_list& list_;
    };

    // Holds the mutex for changes of the list and of the unused handlers. A thread never holds it
    // while it waits for handlers to end.
    class change_guard {
    public:
        explicit change_guard(handler_list& list) noexcept;
        ~change_guard();
        change_guard(const change_guard&) = delete;
        change_guard& operator=(const change_guard&) = delete;

    private:
        handler_list& list_;
    };

    [[nodiscard]] bool is_wanted(ucm_event_type_t type) const noexcept {
        return (wanted() & type) != 0;
    }
    const handler* notify_before(ucm_event_type_t type, ucm_event_t& event) const noexcept;
    static void notify_rest(const handler* first, ucm_event_type_t type,
                            ucm_event_t& event) noexcept;
    static void notify(const handler& target, ucm_event_type_t type, ucm_event_t& event) noexcept;
    handler* take_unused() noexcept;
    void insert(handler* added) noexcept;
    void update_wanted() noexcept;
    void sweep() noexcept;

    mutable pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutex_t changes_ = PTHREAD_MUTEX_INITIALIZER;
    handler* first_ = nullptr;
    handler* unused_ = nullptr;
    int external_ = 0;
    int promised_ = 0;
    int wanted_ = 0;  // union of the kinds of all handlers
};

// Returns the list of this process.
handler_list& handlers() noexcept;

}  // namespace ucm
