// Who wants to know about which memory events.
#pragma once

#include <pthread.h>

#include "ucm/api/ucm.h"

namespace ucm {

inline constexpr int event_flags = UCM_EVENT_FLAG_NO_INSTALL | UCM_EVENT_FLAG_EXISTING_ALLOC;
// Every bit that an argument of kinds of events may have.
inline constexpr int known_bits =
    event_flags | UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT |
    UCM_EVENT_SHMDT | UCM_EVENT_SBRK | UCM_EVENT_MADVISE | UCM_EVENT_BRK | UCM_EVENT_VM_MAPPED |
    UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MEM_TYPE_ALLOC | UCM_EVENT_MEM_TYPE_FREE;

// Handlers in the order they run, and the event kinds that have a declared source. One per
// process. Any thread. Nothing here uses the allocator. Telling handlers waits neither for other
// tellers nor for somebody who adds one. Removing waits until no handler runs, unless a handler
// does it: then others may be running. Trivially destructible: events may come until the very end.
class handler_list {
public:
    constexpr handler_list() noexcept = default;
    handler_list(const handler_list&) = delete;
    handler_list& operator=(const handler_list&) = delete;

    // `noticed`: kinds of events that come without a declaration.
    ucs_status_t add(int events, int noticed, int priority, ucm_event_callback_t callback,
                     void* arg) noexcept;
    void remove(int events, ucm_event_callback_t callback, void* arg) noexcept;

    void declare_external(int events) noexcept;
    void withdraw_external(int events) noexcept;
    [[nodiscard]] int external() const noexcept;

    // Kinds that some handler was promised on the strength of replaced functions. They stay in
    // this set when the handler goes, as the replaced functions stay.
    [[nodiscard]] int relied_on() const noexcept;

    // Whether this thread is telling a handler just now.
    [[nodiscard]] static bool is_telling() noexcept;

    // In the child of a fork: threads that held the list are not there any more. Whatever they
    // were doing, the list is one that can be walked.
    void forget_other_threads() noexcept;

    // Kinds of events that at least one handler wants.
    [[nodiscard]] int wanted() const noexcept {
        return __atomic_load_n(&wanted_, __ATOMIC_ACQUIRE);
    }

    // Tells the handlers of negative priority, calls `original(event)`, tells the others.
    template<class Original>
    void dispatch(ucm_event_type_t type, ucm_event_t& event, Original&& original) const noexcept {
        // Calls that nobody wants to hear of do not hold the list while they last.
        if (!is_wanted(type)) return static_cast<void>(original(event));
        const telling now(*this);
        const handler* rest = tell_before(type, event);
        original(event);
        tell_rest(rest, type, event);
    }

    void dispatch(ucm_event_type_t type, ucm_event_t& event) const noexcept {
        dispatch(type, event, [](ucm_event_t&) {});
    }

private:
    // `events` and `next` may change while somebody walks the list; the rest is set before the
    // handler is linked.
    struct handler {
        int events;  // 0: removed
        int priority;
        ucm_event_callback_t callback;
        void* arg;
        handler* next;
    };

    // Holds the list still. Handlers may change memory and so come back here: readers must be let
    // in again while a writer waits, which is what the default kind of lock does.
    class telling {
    public:
        explicit telling(const handler_list& list) noexcept;
        ~telling();
        telling(const telling&) = delete;
        telling& operator=(const telling&) = delete;

    private:
        const handler_list& list_;
    };

    // The right to change the list, or to take handlers for it; never held while somebody waits
    // for handlers to end.
    class changing {
    public:
        explicit changing(handler_list& list) noexcept;
        ~changing();
        changing(const changing&) = delete;
        changing& operator=(const changing&) = delete;

    private:
        handler_list& list_;
    };

    [[nodiscard]] bool is_wanted(ucm_event_type_t type) const noexcept {
        return (wanted() & type) != 0;
    }
    const handler* tell_before(ucm_event_type_t type, ucm_event_t& event) const noexcept;
    static void tell_rest(const handler* first, ucm_event_type_t type, ucm_event_t& event) noexcept;
    static void tell(const handler& one, ucm_event_type_t type, ucm_event_t& event) noexcept;
    handler* take_unused() noexcept;
    void insert(handler* added) noexcept;
    void note_wanted() noexcept;
    void sweep() noexcept;

    mutable pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutex_t changes_ = PTHREAD_MUTEX_INITIALIZER;
    handler* first_ = nullptr;
    handler* unused_ = nullptr;
    int external_ = 0;
    int relied_on_ = 0;
    int wanted_ = 0;  // kinds in the list
};

// The list of this process.
handler_list& handlers() noexcept;

}  // namespace ucm
