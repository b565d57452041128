// C functions that register handlers, declare external sources and report ranges.
#include <pthread.h>

#include "ucm/cuda/driver.hpp"
#include "ucm/event/handler_list.hpp"
#include "ucm/event/trial.hpp"
#include "ucm/hook/libc.hpp"

namespace ucm {
namespace {

int installed() noexcept {
    return hook::libc().installed() | cuda::driver().installed();
}

// Attempts to detect these kinds of events. There is one method to replace functions of the CUDA
// driver, so both bits of its modes select it.
void install(int events) noexcept {
    constexpr int by_code = UCS_BIT(UCM_MMAP_HOOK_RELOC) | UCS_BIT(UCM_MMAP_HOOK_BISTRO);
    if (ucm_global_opts.mmap_hook_mode != UCM_MMAP_HOOK_NONE) hook::libc().install(events);
    if ((ucm_global_opts.cuda_hook_modes & by_code) != 0) cuda::driver().install(events);
}

// Returns the requested kinds of events that this library detects. Replaced functions may be in
// place and still not be called, for example under a tool that has translated the code before;
// therefore the kinds are tried.
int detected(int events) noexcept {
    hook::libc().repair();
    cuda::driver().repair();
    return kinds_that_arrive(events & installed());
}

// Like detected, after an attempt to detect all of the kinds. Finding functions needs the
// allocator, and a handler may run inside the allocator. So a call from a handler replaces no
// functions.
int detect(int events) noexcept {
    if (events == 0) return 0;
    if (handler_list::is_notifying()) return events & installed();
    install(events);
    return detected(events);
}

void in_child() noexcept {
    handlers().forget_other_threads();
    hook::libc().forget_other_threads();
    cuda::driver().forget_other_threads();
}

// A thread that does not exist in the child of a fork may hold the list's lock.
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
    int detected = 0;
    if ((events & UCM_EVENT_FLAG_NO_INSTALL) == 0) {
        detected = ucm::detect(events & ~ucm::event_flags & ~ucm::handlers().external());
    }
    return ucm::handlers().add(events, detected, priority, cb, arg);
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
    events &= ucm::handlers().promised();
    return (events & ~ucm::detected(events)) == 0 ? UCS_OK : UCS_ERR_UNSUPPORTED;
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
