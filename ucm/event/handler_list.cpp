#include "ucm/event/handler_list.hpp"

#include <sys/mman.h>

#include <cstddef>

namespace ucm {

namespace {

// Events whose handlers this thread is telling. In the block of memory that every thread has from
// its start: the other kind of variable is allocated at the first use.
__attribute__((tls_model("initial-exec"))) thread_local constinit int depth = 0;

template<class T>
T load(const T& from) noexcept {
    return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

template<class T>
void store(T& into, T value) noexcept {
    __atomic_store_n(&into, value, __ATOMIC_RELEASE);
}

}  // namespace

handler_list& handlers() noexcept {
    static constinit handler_list the_list;
    return the_list;
}

handler_list::telling::telling(const handler_list& list) noexcept : list_(list) {
    pthread_rwlock_rdlock(&list_.lock_);
    ++depth;
}

handler_list::telling::~telling() {
    --depth;
    pthread_rwlock_unlock(&list_.lock_);
}

handler_list::changing::changing(handler_list& list) noexcept : list_(list) {
    pthread_mutex_lock(&list_.changes_);
}

handler_list::changing::~changing() {
    pthread_mutex_unlock(&list_.changes_);
}

bool handler_list::is_telling() noexcept {
    return depth > 0;
}

void handler_list::forget_other_threads() noexcept {
    pthread_rwlock_init(&lock_, nullptr);
    pthread_mutex_init(&changes_, nullptr);
    // A handler that forked still holds the list when it returns.
    for (int held = 0; held < depth; ++held)
        pthread_rwlock_rdlock(&lock_);
}

void handler_list::insert(handler* added) noexcept {
    handler** place = &first_;
    while (*place != nullptr && (*place)->priority <= added->priority)
        place = &(*place)->next;
    added->next = *place;
    store(*place, added);
}

// Handlers come from pages of their own, which are kept: malloc may be what reports the event.
handler_list::handler* handler_list::take_unused() noexcept {
    if (unused_ == nullptr) {
        constexpr std::size_t bytes = 4096;
        void* page = ucm_orig_mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return nullptr;
        auto* all = static_cast<handler*>(page);
        for (std::size_t i = 0; i < bytes / sizeof(handler); ++i) {
            all[i].next = unused_;
            unused_ = &all[i];
        }
    }
    handler* taken = unused_;
    unused_ = taken->next;
    return taken;
}

ucs_status_t handler_list::add(int events, int noticed, int priority, ucm_event_callback_t callback,
                               void* arg) noexcept {
    const int wanted = events & ~event_flags;
    const changing now(*this);
    const int undeclared = wanted & ~external();
    const bool takes_what_comes = (events & UCM_EVENT_FLAG_NO_INSTALL) != 0;
    if (!takes_what_comes && (undeclared & ~noticed) != 0) return UCS_ERR_UNSUPPORTED;
    handler* added = take_unused();
    if (added == nullptr) return UCS_ERR_NO_MEMORY;
    if (!takes_what_comes) store(relied_on_, relied_on_ | undeclared);
    *added = {wanted, priority, callback, arg, nullptr};
    insert(added);
    note_wanted();
    return UCS_OK;
}

void handler_list::remove(int events, ucm_event_callback_t callback, void* arg) noexcept {
    {
        const changing now(*this);
        for (handler* current = first_; current != nullptr; current = current->next) {
            if (current->callback == callback && current->arg == arg) {
                store(current->events, current->events & ~events);
            }
        }
        note_wanted();
    }
    if (is_telling()) return;  // would wait for itself
    pthread_rwlock_wrlock(&lock_);
    {
        const changing now(*this);
        sweep();
    }
    pthread_rwlock_unlock(&lock_);
}

// Takes out the handlers that want nothing any more. Nobody walks the list meanwhile.
void handler_list::sweep() noexcept {
    for (handler** place = &first_; *place != nullptr;) {
        handler* current = *place;
        if (current->events != 0) {
            place = &current->next;
            continue;
        }
        *place = current->next;
        current->next = unused_;
        unused_ = current;
    }
}

void handler_list::note_wanted() noexcept {
    int all = 0;
    for (const handler* current = first_; current != nullptr; current = current->next)
        all |= current->events;
    store(wanted_, all);
}

void handler_list::declare_external(int events) noexcept {
    __atomic_fetch_or(&external_, events & ~event_flags, __ATOMIC_ACQ_REL);
}

void handler_list::withdraw_external(int events) noexcept {
    __atomic_fetch_and(&external_, ~events, __ATOMIC_ACQ_REL);
}

int handler_list::external() const noexcept {
    return load(external_);
}

int handler_list::relied_on() const noexcept {
    return load(relied_on_);
}

void handler_list::tell(const handler& one, ucm_event_type_t type, ucm_event_t& event) noexcept {
    if ((load(one.events) & type) != 0) one.callback(type, &event, one.arg);
}

const handler_list::handler* handler_list::tell_before(ucm_event_type_t type,
                                                       ucm_event_t& event) const noexcept {
    const handler* current = load(first_);
    for (; current != nullptr && current->priority < 0; current = load(current->next))
        tell(*current, type, event);
    return current;
}

void handler_list::tell_rest(const handler* first, ucm_event_type_t type,
                             ucm_event_t& event) noexcept {
    for (const handler* current = first; current != nullptr; current = load(current->next))
        tell(*current, type, event);
}

}  // namespace ucm
