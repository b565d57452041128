#include "ucm/event/handler_list.hpp"

#include <cstdlib>

namespace ucm {

handler_list& handlers() noexcept {
    static constinit handler_list the_list;
    return the_list;
}

void handler_list::insert(handler* added) noexcept {
    handler** place = &first_;
    while (*place != nullptr && (*place)->priority <= added->priority)
        place = &(*place)->next;
    added->next = *place;
    *place = added;
}

ucs_status_t handler_list::add(int events, int priority, ucm_event_callback_t callback,
                               void* arg) noexcept {
    // Plain malloc, because this library must not need the C++ runtime.
    auto* added = static_cast<handler*>(std::malloc(sizeof(handler)));
    if (added == nullptr) return UCS_ERR_NO_MEMORY;
    *added = {events & ~event_flags, priority, callback, arg, nullptr};

    pthread_rwlock_wrlock(&lock_);
    const int missing = added->events & ~external_;
    const bool accept = missing == 0 || (events & UCM_EVENT_FLAG_NO_INSTALL) != 0;
    if (accept) insert(added);
    pthread_rwlock_unlock(&lock_);

    if (accept) return UCS_OK;
    std::free(added);
    return UCS_ERR_UNSUPPORTED;
}

void handler_list::remove(int events, ucm_event_callback_t callback, void* arg) noexcept {
    handler* removed = nullptr;
    pthread_rwlock_wrlock(&lock_);
    for (handler** place = &first_; *place != nullptr;) {
        handler* current = *place;
        if (current->callback == callback && current->arg == arg) current->events &= ~events;
        if (current->events == 0) {
            *place = current->next;
            current->next = removed;
            removed = current;
        } else {
            place = &current->next;
        }
    }
    pthread_rwlock_unlock(&lock_);

    // Outside the lock: freeing may unmap memory, and whoever intercepts that may come back here.
    while (removed != nullptr) {
        handler* next = removed->next;
        std::free(removed);
        removed = next;
    }
}

void handler_list::declare_external(int events) noexcept {
    pthread_rwlock_wrlock(&lock_);
    external_ |= events & ~event_flags;
    pthread_rwlock_unlock(&lock_);
}

void handler_list::withdraw_external(int events) noexcept {
    pthread_rwlock_wrlock(&lock_);
    external_ &= ~events;
    pthread_rwlock_unlock(&lock_);
}

int handler_list::external() const noexcept {
    read_lock held(lock_);
    return external_;
}

int handler_list::wanted() const noexcept {
    read_lock held(lock_);
    int all = 0;
    for (const handler* current = first_; current != nullptr; current = current->next)
        all |= current->events;
    return all;
}

const handler_list::handler* handler_list::tell_before(ucm_event_type_t type,
                                                       ucm_event_t& event) const noexcept {
    const handler* current = first_;
    for (; current != nullptr && current->priority < 0; current = current->next) {
        if ((current->events & type) != 0) current->callback(type, &event, current->arg);
    }
    return current;
}

void handler_list::tell_rest(const handler* first, ucm_event_type_t type,
                             ucm_event_t& event) noexcept {
    for (const handler* current = first; current != nullptr; current = current->next) {
        if ((current->events & type) != 0) current->callback(type, &event, current->arg);
    }
}

}  // namespace ucm
