#include "ucm/event/handler_list.hpp"

#include <sys/mman.h>

#include <cstddef>

namespace ucm {

namespace {

// Number of nested events whose handlers this thread is calling. The variable is in the memory that
// every thread has from its start (initial-exec), because other thread-local variables are
// allocated at their first use.
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

handler_list::notify_guard::notify_guard(const handler_list& list) noexcept : list_(list) {
    pthread_rwlock_rdlock(&list_.lock_);
    ++depth;
}

handler_list::notify_guard::~notify_guard() {
    --depth;
    pthread_rwlock_unlock(&list_.lock_);
}

handler_list::change_guard::change_guard(handler_list& list) noexcept : list_(list) {
    pthread_mutex_lock(&list_.changes_);
}

handler_list::change_guard::~change_guard() {
    pthread_mutex_unlock(&list_.changes_);
}

bool handler_list::is_notifying() noexcept {
    return depth > 0;
}

void handler_list::forget_other_threads() noexcept {
    pthread_rwlock_init(&lock_, nullptr);
    pthread_mutex_init(&changes_, nullptr);
    // A handler that forked still holds the read lock when it returns.
    for (int held = 0; held < depth; ++held)
        pthread_rwlock_rdlock(&lock_);
}

void handler_list::insert(handler* added) noexcept {
    handler** link = &first_;
    while (*link != nullptr && (*link)->priority <= added->priority)
        link = &(*link)->next;
    added->next = *link;
    store(*link, added);
}

// Takes handlers from pages that the list maps and never unmaps. malloc cannot be used: it may be
// the caller that reports the event.
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

ucs_status_t handler_list::add(int events, int detected, int priority,
                               ucm_event_callback_t callback, void* arg) noexcept {
    const int wanted = events & ~event_flags;
    const change_guard now(*this);
    const int undeclared = wanted & ~external();
    const bool accepts_incomplete = (events & UCM_EVENT_FLAG_NO_INSTALL) != 0;
    if (!accepts_incomplete && (undeclared & ~detected) != 0) return UCS_ERR_UNSUPPORTED;
    handler* added = take_unused();
    if (added == nullptr) return UCS_ERR_NO_MEMORY;
    if (!accepts_incomplete) store(promised_, promised_ | undeclared);
    *added = {wanted, priority, callback, arg, nullptr};
    insert(added);
    update_wanted();
    return UCS_OK;
}

void handler_list::remove(int events, ucm_event_callback_t callback, void* arg) noexcept {
    {
        const change_guard now(*this);
        for (handler* current = first_; current != nullptr; current = current->next) {
            if (current->callback == callback && current->arg == arg) {
                store(current->events, current->events & ~events);
            }
        }
        update_wanted();
    }
    if (is_notifying()) return;  // otherwise it would wait for itself
    pthread_rwlock_wrlock(&lock_);
    {
        const change_guard now(*this);
        sweep();
    }
    pthread_rwlock_unlock(&lock_);
}

// Removes handlers without events. No thread walks the list meanwhile.
void handler_list::sweep() noexcept {
    for (handler** link = &first_; *link != nullptr;) {
        handler* current = *link;
        if (current->events != 0) {
            link = &current->next;
            continue;
        }
        *link = current->next;
        current->next = unused_;
        unused_ = current;
    }
}

void handler_list::update_wanted() noexcept {
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

int handler_list::promised() const noexcept {
    return load(promised_);
}

void handler_list::notify(const handler& target, ucm_event_type_t type,
                          ucm_event_t& event) noexcept {
    if ((load(target.events) & type) != 0) target.callback(type, &event, target.arg);
}

const handler_list::handler* handler_list::notify_before(ucm_event_type_t type,
                                                         ucm_event_t& event) const noexcept {
    const handler* current = load(first_);
    for (; current != nullptr && current->priority < 0; current = load(current->next))
        notify(*current, type, event);
    return current;
}

void handler_list::notify_rest(const handler* first, ucm_event_type_t type,
                               ucm_event_t& event) noexcept {
    for (const handler* current = first; current != nullptr; current = load(current->next))
        notify(*current, type, event);
}

}  // namespace ucm
