// The C functions that register handlers, declare sources and report ranges.
#include <pthread.h>

#include "ucm/event/handler_list.hpp"
#include "ucm/event/trial.hpp"
#include "ucm/hook/install.hpp"

namespace ucm {
namespace {

// Returns those of the kinds that this library notices. Replaced functions may be in place and
// still not be called, such as under a tool that has translated the code before; hence the trial.
int noticed(int events) noexcept {
    hook::repair();
    return kinds_that_arrive(events & hook::installed());
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
    if (cb == nullptr || (events & ~ucm::known_bits) != 0) return UCS_ERR_INVALID_PARAM;
    if (ucm_global_opts.enable_events == 0) return UCS_ERR_UNSUPPORTED;
    if ((events & ~ucm::event_flags) == 0) return UCS_OK;
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
    events &= ucm::handlers().relied_on();
    return (events & ~ucm::noticed(events)) == 0 ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

ucs_status_t ucm_test_external_events(int events) {
    events &= ucm::handlers().external();
    return (events & ~ucm::kinds_that_arrive(events)) == 0 ? UCS_OK : UCS_ERR_UNSUPPORTED;
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
