// Who wants to know about which memory events.
#pragma once

#include <pthread.h>

#include "ucm/api/ucm.h"

namespace ucm {

inline constexpr int event_flags = UCM_EVENT_FLAG_NO_INSTALL | UCM_EVENT_FLAG_EXISTING_ALLOC;

// Handlers in the order they run, and the event kinds that have a declared source. One per
// process. Any thread. Telling handlers neither allocates nor waits for other tellers; adding and
// removing waits until no handler runs. Trivially destructible: events may come until the very end.
class handler_list {
public:
    constexpr handler_list() noexcept = default;
    handler_list(const handler_list&) = delete;
    handler_list& operator=(const handler_list&) = delete;

    ucs_status_t add(int events, int priority, ucm_event_callback_t callback, void* arg) noexcept;
    void remove(int events, ucm_event_callback_t callback, void* arg) noexcept;

    void declare_external(int events) noexcept;
    void withdraw_external(int events) noexcept;
    [[nodiscard]] int external() const noexcept;

    // Kinds of events that at least one handler wants.
    [[nodiscard]] int wanted() const noexcept;

    // Tells the handlers of negative priority, calls `original(event)`, tells the others.
    template<class Original>
    void dispatch(ucm_event_type_t type, ucm_event_t& event, Original&& original) const noexcept {
        read_lock held(lock_);
        const handler* rest = tell_before(type, event);
        original(event);
        tell_rest(rest, type, event);
    }

    void dispatch(ucm_event_type_t type, ucm_event_t& event) const noexcept {
        dispatch(type, event, [](ucm_event_t&) {});
    }

private:
    struct handler {
        int events;
        int priority;
        ucm_event_callback_t callback;
        void* arg;
        handler* next;
    };

    // Handlers may change memory and so come back here: readers must be let in again while a
    // writer waits, which is what the default kind of lock does.
    class read_lock {
    public:
        explicit read_lock(pthread_rwlock_t& lock) noexcept : lock_(lock) {
            pthread_rwlock_rdlock(&lock_);
        }
        ~read_lock() { pthread_rwlock_unlock(&lock_); }
        read_lock(const read_lock&) = delete;
        read_lock& operator=(const read_lock&) = delete;

    private:
        pthread_rwlock_t& lock_;
    };

    const handler* tell_before(ucm_event_type_t type, ucm_event_t& event) const noexcept;
    static void tell_rest(const handler* first, ucm_event_type_t type, ucm_event_t& event) noexcept;
    void insert(handler* added) noexcept;

    mutable pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
    handler* first_ = nullptr;
    int external_ = 0;
};

// The list of this process.
handler_list& handlers() noexcept;

}  // namespace ucm
