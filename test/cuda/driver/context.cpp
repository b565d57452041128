#include "test/cuda/driver/context.hpp"

#include <sys/mman.h>

#include <vector>

#include "test/cuda/driver/event.hpp"
#include "test/cuda/driver/handle.hpp"
#include "test/cuda/driver/memory.hpp"
#include "test/cuda/driver/stream.hpp"

namespace standin {
namespace {

struct state {
    std::map<CUcontext, context_ref> contexts;
    std::map<const device*, CUcontext> primary_handles;
};

state& table() {
    static state& only = *new state;
    return only;
}

// Handles: a context that is destroyed stays on the stacks of threads.
std::vector<CUcontext>& thread_stack() {
    thread_local std::vector<CUcontext> stack;
    return stack;
}

context_ref make_context(CUcontext handle, device& on, bool is_primary) {
    const auto made = std::make_shared<context>(context{handle, unique_number(), on, is_primary});
    table().contexts[handle] = made;
    return made;
}

CUcontext primary_handle(const device& on) {
    CUcontext& handle = table().primary_handles[&on];
    if (handle == nullptr) handle = make_handle<CUcontext>();
    return handle;
}

context_ref active_primary(const device& on) {
    const auto found = table().contexts.find(primary_handle(on));
    return found == table().contexts.end() ? nullptr : found->second;
}

// Waits for the context's work, and destroys its objects. Memory of pools and of allocation handles
// belongs to no context and stays.
void destroy(held_lock& lock, const context_ref& dying) {
    dying->is_destroyed = true;
    drain(lock, *dying);
    drop_events(*dying);
    drop_streams(*dying);
    const std::vector<host_range> unmapped = drop_memory(*dying);
    table().contexts.erase(dying->handle);
    state_changed().notify_all();
    // Programs may watch the unmapping of host memory, and call the driver when they notice it.
    lock.unlock();
    for (const host_range& each : unmapped)
        ::munmap(each.address, each.length);
    lock.lock();
}

}  // namespace

CUresult error_of(const context& asked) noexcept {
    return asked.on.lost != CUDA_SUCCESS ? asked.on.lost : asked.error;
}

void check_works(const context& asked) {
    if (asked.on.lost != CUDA_SUCCESS) fail(asked.on.lost, "the device is lost");
    if (asked.error != CUDA_SUCCESS)
        fail(asked.error, "an earlier operation of the context failed");
}

context_ref current_context_or_null() {
    if (thread_stack().empty()) return nullptr;
    const auto found = table().contexts.find(thread_stack().back());
    return found == table().contexts.end() ? nullptr : found->second;
}

context_ref current_context_even_broken() {
    if (thread_stack().empty())
        fail(CUDA_ERROR_INVALID_CONTEXT, "this thread has no current context");
    context_ref found = current_context_or_null();
    if (found == nullptr)
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "this thread's current context is destroyed");
    return found;
}

context_ref current_context() {
    context_ref found = current_context_even_broken();
    check_works(*found);
    return found;
}

context_ref find_context(CUcontext handle) {
    const auto found = table().contexts.find(handle);
    if (found == table().contexts.end())
        fail(CUDA_ERROR_INVALID_CONTEXT, "no context has this handle");
    return found->second;
}

const std::map<CUcontext, context_ref>& contexts() {
    return table().contexts;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice ordinal) {
    return call(function::cuDevicePrimaryCtxRetain, [&](held_lock&) {
        check_pointer(handle);
        device& on = find_device(ordinal);
        context_ref primary = active_primary(on);
        if (primary == nullptr) primary = make_context(primary_handle(on), on, true);
        ++primary->retains;
        *handle = primary->handle;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    return call(function::cuDevicePrimaryCtxRelease_v2, [&](held_lock& lock) {
        const context_ref primary = active_primary(find_device(ordinal));
        if (primary == nullptr)
            fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
        if (--primary->retains == 0) destroy(lock, primary);
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* is_active) {
    return call(function::cuDevicePrimaryCtxGetState, [&](held_lock&) {
        check_pointer(flags);
        check_pointer(is_active);
        *flags = 0;
        *is_active = active_primary(find_device(ordinal)) != nullptr ? 1 : 0;
    });
}

CUresult cuCtxCreate_v2(CUcontext* handle, unsigned flags, CUdevice ordinal) {
    return call(function::cuCtxCreate_v2, [&](held_lock&) {
        check_pointer(handle);
        check_argument(flags <= 0xff, "there are no such flags");
        *handle = make_context(make_handle<CUcontext>(), find_device(ordinal), false)->handle;
        thread_stack().push_back(*handle);
    });
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    return call(function::cuCtxDestroy_v2, [&](held_lock& lock) {
        const context_ref dying = find_context(handle);
        if (dying->is_primary)
            fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
        if (!thread_stack().empty() && thread_stack().back() == handle) thread_stack().pop_back();
        destroy(lock, dying);
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    return call(function::cuCtxPushCurrent_v2,
                [&](held_lock&) { thread_stack().push_back(find_context(handle)->handle); });
}

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
    return call(function::cuCtxPopCurrent_v2, [&](held_lock&) {
        if (thread_stack().empty())
            fail(CUDA_ERROR_INVALID_CONTEXT, "this thread has no current context");
        if (handle != nullptr) *handle = thread_stack().back();
        thread_stack().pop_back();
    });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
    return call(function::cuCtxSetCurrent, [&](held_lock&) {
        if (handle != nullptr) static_cast<void>(find_context(handle));
        if (!thread_stack().empty()) thread_stack().pop_back();
        if (handle != nullptr) thread_stack().push_back(handle);
    });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
    return call(function::cuCtxGetCurrent, [&](held_lock&) {
        check_pointer(handle);
        *handle = thread_stack().empty() ? nullptr : thread_stack().back();
    });
}

CUresult cuCtxGetDevice(CUdevice* ordinal) {
    return call(function::cuCtxGetDevice, [&](held_lock&) {
        check_pointer(ordinal);
        *ordinal = current_context_even_broken()->on.ordinal;
    });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
    return call(function::cuCtxGetId, [&](held_lock&) {
        check_pointer(id);
        if (handle == nullptr) {
            *id = current_context_even_broken()->id;
        } else {
            const auto found = table().contexts.find(handle);
            if (found == table().contexts.end())
                fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "no context has this handle any more");
            *id = found->second->id;
        }
    });
}

CUresult cuCtxSynchronize() {
    return call(function::cuCtxSynchronize, [&](held_lock& lock) {
        const context_ref current = current_context();
        drain(lock, *current);
        check_works(*current);
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
    return call(function::cuCtxEnablePeerAccess, [&](held_lock&) {
        const context_ref current = current_context();
        const context_ref peer = find_context(handle);
        check_argument(flags == 0, "the flags must be 0");
        if (peer == current)
            fail(CUDA_ERROR_INVALID_CONTEXT, "the peer is the current context itself");
        if (!can_access_peer(current->on, peer->on))
            fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices cannot access each other");
        if (!current->peers.insert(peer->id).second)
            fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "the access is enabled already");
    });
}

}  // namespace standin
