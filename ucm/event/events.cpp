// The C functions that register handlers, declare sources and report ranges.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "ucm/event/handler_list.hpp"
#include "ucm/hook/install.hpp"

namespace ucm {
namespace {

constexpr int range_events = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED;

// What arrived for one page of memory; filled by whichever thread reports it.
struct trial {
    char* page;
    int arrived;
};

void note_trial(ucm_event_type_t type, ucm_event_t* event, void* arg) {
    auto& observed = *static_cast<trial*>(arg);
    const auto* first = static_cast<const char*>(event->vm_unmapped.address);
    const char* page = __atomic_load_n(&observed.page, __ATOMIC_RELAXED);
    if (type == UCM_EVENT_VM_MAPPED) {
        // The address is not known before the call returns, so any mapping will do.
        __atomic_fetch_or(&observed.arrived, UCM_EVENT_VM_MAPPED, __ATOMIC_RELAXED);
    } else if (first <= page && page < first + event->vm_unmapped.size) {
        __atomic_fetch_or(&observed.arrived, UCM_EVENT_VM_UNMAPPED, __ATOMIC_RELAXED);
    }
}

// Maps and unmaps a page by the C library's functions, where a source would notice. Returns the
// kinds of events that followed.
int try_out(int events) noexcept {
    const auto page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    trial observed{nullptr, 0};
    if (handlers().add(events | UCM_EVENT_FLAG_NO_INSTALL, 0, 0, note_trial, &observed) != UCS_OK) {
        return 0;
    }
    void* page =
        mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        __atomic_store_n(&observed.page, static_cast<char*>(page), __ATOMIC_RELAXED);
        munmap(page, page_size);
    }
    handlers().remove(events, note_trial, &observed);
    return __atomic_load_n(&observed.arrived, __ATOMIC_RELAXED);
}

// Of these kinds, those that this library notices. What seems to be in place may still not work,
// such as changed code under a tool that has translated it before.
int noticed(int events) noexcept {
    hook::repair();
    events &= hook::installed();
    const int to_try = events & range_events;
    return to_try == 0 ? events : events & ~(to_try & ~try_out(to_try));
}

// The same after an attempt to notice all of them. Handlers can be told in the middle of the
// allocator, which looking for functions needs: for them it stays as it is.
int notice(int events) noexcept {
    if (events == 0) return 0;
    if (handler_list::is_telling()) return events & hook::installed();
    if (ucm_global_opts.mmap_hook_mode != UCM_MMAP_HOOK_NONE) hook::install(events);
    return noticed(events);
}

void in_child() noexcept {
    handlers().forget_other_threads();
    hook::forget_other_threads();
}

// The list's lock may be held by a thread that a child of fork does not have.
void survive_fork() noexcept {
    static constinit int done = 0;
    if (__atomic_exchange_n(&done, 1, __ATOMIC_ACQ_REL) == 0) {
        pthread_atfork(nullptr, nullptr, in_child);
    }
}

}  // namespace
}  // namespace ucm

ucs_status_t ucm_set_event_handler(int events, int priority, ucm_event_callback_t cb, void* arg) {
    if (cb == nullptr || (events & ~ucm::event_flags) == 0) return UCS_ERR_INVALID_PARAM;
    if (ucm_global_opts.enable_events == 0) return UCS_ERR_UNSUPPORTED;
    ucm::survive_fork();
    int noticed = 0;
    if ((events & UCM_EVENT_FLAG_NO_INSTALL) == 0) {
        noticed = ucm::notice(events & ~ucm::event_flags & ~ucm::handlers().external());
    }
    return ucm::handlers().add(events, noticed, priority, cb, arg);
}

void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void* arg) {
    ucm::handlers().remove(events, cb, arg);
}

void ucm_set_external_event(int events) {
    ucm::handlers().declare_external(events);
}

void ucm_unset_external_event(int events) {
    ucm::handlers().withdraw_external(events);
}

ucs_status_t ucm_test_events(int events) {
    events &= ~ucm::event_flags;
    const int external = events & ucm::handlers().external();
    if (ucm_test_external_events(external) != UCS_OK) return UCS_ERR_UNSUPPORTED;

    // A range event that nobody waits for cannot be missed, so there is nothing to warn about.
    const int rest = events & ~external & ~ucm::noticed(events & ~external);
    const bool harmless =
        (rest & ~ucm::range_events) == 0 && (rest & ucm::handlers().wanted()) == 0;
    return harmless ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

ucs_status_t ucm_test_external_events(int events) {
    events &= ~ucm::event_flags;
    if ((events & ~ucm::handlers().external()) != 0) return UCS_ERR_UNSUPPORTED;
    const int to_try = events & ucm::range_events;
    if (to_try == 0) return UCS_OK;
    return (to_try & ~ucm::try_out(to_try)) == 0 ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

void ucm_vm_mmap(void* addr, size_t length) {
    ucm_event_t event;
    event.vm_mapped = {addr, length};
    ucm::handlers().dispatch(UCM_EVENT_VM_MAPPED, event);
}

void ucm_vm_munmap(void* addr, size_t length) {
    ucm_event_t event;
    event.vm_unmapped = {addr, length};
    ucm::handlers().dispatch(UCM_EVENT_VM_UNMAPPED, event);
}
