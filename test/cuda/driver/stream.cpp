#include "test/cuda/driver/stream.hpp"

#include <map>
#include <thread>

#include "test/cuda/driver/handle.hpp"
#include "test/cuda/driver/standin.h"
#include "test/cuda/driver/stream_thread.hpp"

namespace standin {
namespace {

struct state {
    std::map<CUstream, stream_ref> streams;
    std::map<std::uint64_t, std::uint64_t> made;  // streams made by each context
};

state& table() {
    static state& only = *new state;
    return only;
}

const CUstream legacy_handle = reinterpret_cast<CUstream>(1);
const CUstream per_thread_handle = reinterpret_cast<CUstream>(2);

stream_ref make_stream(const context_ref& owner, CUstream handle) {
    auto made = std::make_shared<stream>();
    made->handle = handle;
    made->owner = owner;
    made->number = ++table().made[owner->id];
    return made;
}

stream_ref legacy_of(const context_ref& owner) {
    if (owner->legacy == nullptr) {
        owner->legacy = make_stream(owner, legacy_handle);
        owner->legacy->is_legacy = true;
    }
    return owner->legacy;
}

stream_ref per_thread_of(const context_ref& owner) {
    stream_ref& found = owner->per_thread[std::this_thread::get_id()];
    if (found == nullptr) found = make_stream(owner, per_thread_handle);
    return found;
}

template<class Visitor>
void for_each_blocking(const context& owner, const Visitor& visit) {
    for (const auto& [handle, each] : table().streams)
        if (each->owner.get() == &owner && each->is_blocking) visit(each);
    for (const auto& [thread, each] : owner.per_thread)
        visit(each);
}

bool is_idle(const stream& asked) noexcept {
    return asked.completed == asked.queued;
}

void add_implicit_order(const stream& on, operation& added) {
    const context& owner = *on.owner;
    if (on.is_legacy) {
        for_each_blocking(owner, [&](const stream_ref& each) {
            added.after.push_back({each, each->queued});
        });
    } else if (on.is_blocking && owner.legacy != nullptr) {
        added.after.push_back({owner.legacy, owner.legacy->queued});
    }
}

// An operation may begin inside the call that queues it. A part that fails is tried again, and
// reported, by the stream's thread.
void begin_early(const stream& on, operation& added) {
    if (!is_idle(on) || are_streams_paused() || !are_done(added.after) || added.begin == nullptr ||
        error_of(*on.owner) != CUDA_SUCCESS)
        return;
    try {
        added.begin();
        added.begin = nullptr;
    } catch (const failure&) {
        return;
    }
}

stream_ref find_created(CUstream handle) {
    const auto found = table().streams.find(handle);
    if (found == table().streams.end())
        fail(CUDA_ERROR_INVALID_HANDLE, "no stream has this handle");
    return found->second;
}

stream_ref find(CUstream handle, bool is_null_per_thread) {
    if (handle == per_thread_handle || (handle == nullptr && is_null_per_thread))
        return per_thread_of(current_context());
    if (handle == nullptr || handle == legacy_handle) return legacy_of(current_context());
    return find_created(handle);
}

void check_capture(const stream& on) {
    if (on.is_capturing)
        fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
}

}  // namespace

bool marker::is_done() const noexcept {
    return on == nullptr || on->completed >= sequence;
}

stream_ref find_stream(CUstream handle) {
    stream_ref found = find(handle, false);
    check_works(*found->owner);
    return found;
}

stream_ref find_stream_per_thread(CUstream handle) {
    stream_ref found = find(handle, true);
    check_works(*found->owner);
    return found;
}

marker enqueue(const stream_ref& on, operation added) {
    // A captured operation becomes part of a graph and does not run.
    if (on->is_capturing) return {};
    if (!on->has_thread) start_thread(on);
    add_implicit_order(*on, added);
    begin_early(*on, added);
    added.sequence = ++on->queued;
    if (added.is_host_function) on->last_host_function = added.sequence;
    on->pending.push_back(std::move(added));
    state_changed().notify_all();
    return {on, on->queued};
}

std::vector<marker> whole_work(const stream& on) {
    std::vector<marker> work;
    if (on.is_legacy)
        for_each_blocking(*on.owner, [&](const stream_ref& each) {
            work.push_back({each, each->queued});
        });
    work.push_back({std::const_pointer_cast<stream>(on.shared_from_this()), on.queued});
    return work;
}

bool are_done(const std::vector<marker>& awaited) noexcept {
    for (const marker& each : awaited)
        if (!each.is_done()) return false;
    return true;
}

void wait_for(held_lock& lock, const std::vector<marker>& awaited) {
    state_changed().wait(lock, [&] { return are_done(awaited); });
}

void drain(held_lock& lock, const context& working) {
    std::vector<marker> work;
    for (const auto& [handle, each] : table().streams)
        if (each->owner.get() == &working) work.push_back({each, each->queued});
    for (const auto& [thread, each] : working.per_thread)
        work.push_back({each, each->queued});
    if (working.legacy != nullptr) work.push_back({working.legacy, working.legacy->queued});
    wait_for(lock, work);
}

void drop_streams(context& dying) {
    dying.legacy.reset();
    dying.per_thread.clear();
    std::erase_if(table().streams,
                  [&](const auto& each) { return each.second->owner.get() == &dying; });
}

void for_each_stream(const std::function<void(const stream&)>& visitor) {
    for (const auto& [handle, each] : table().streams)
        visitor(*each);
}

CUresult cuStreamCreate(CUstream* handle, unsigned flags) {
    return call(function::cuStreamCreate, [&](held_lock&) {
        check_pointer(handle);
        check_argument(flags <= CU_STREAM_NON_BLOCKING, "there are no such flags");
        const stream_ref made = make_stream(current_context(), make_handle<CUstream>());
        made->is_blocking = flags != CU_STREAM_NON_BLOCKING;
        table().streams[made->handle] = made;
        *handle = made->handle;
    });
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    return call(function::cuStreamDestroy_v2, [&](held_lock&) {
        static_cast<void>(current_context_even_broken());
        const stream_ref dying = find_created(handle);
        // Operations that are queued still run.
        dying->is_destroyed = true;
        table().streams.erase(handle);
        state_changed().notify_all();
        check_works(*dying->owner);
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return call(function::cuStreamQuery, [&](held_lock&) {
        const stream_ref asked = find_stream(handle);
        check_capture(*asked);
        if (!are_done(whole_work(*asked))) fail(CUDA_ERROR_NOT_READY, "work is left");
    });
}

CUresult cuStreamSynchronize(CUstream handle) {
    return call(function::cuStreamSynchronize, [&](held_lock& lock) {
        const stream_ref asked = find_stream(handle);
        check_capture(*asked);
        wait_for(lock, whole_work(*asked));
        check_works(*asked->owner);
    });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* owner) {
    return call(function::cuStreamGetCtx, [&](held_lock&) {
        check_pointer(owner);
        *owner = find_stream(handle)->owner->handle;
    });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    return call(function::cuStreamIsCapturing, [&](held_lock&) {
        check_pointer(status);
        const stream_ref asked = find_stream(handle);
        bool is_other_captured = false;
        if (asked->is_legacy)
            for_each_blocking(*asked->owner, [&](const stream_ref& each) {
                is_other_captured = is_other_captured || each->is_capturing;
            });
        if (is_other_captured)
            fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "a blocking stream is being captured");
        *status =
            asked->is_capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn called, void* user_data) {
    return call(function::cuLaunchHostFunc, [&](held_lock&) {
        check_argument(called != nullptr, "the function is null");
        static_cast<void>(current_context());
        operation added;
        added.is_host_function = true;
        added.run = [called, user_data] {
            const host_function_scope scope;
            called(user_data);
        };
        enqueue(find_stream(handle), std::move(added));
    });
}

}  // namespace standin

void standin_capture_stream(void* stream, int is_capturing) {
    const standin::held_lock lock(standin::state_lock());
    standin::find_created(static_cast<ucs::cuda::CUstream>(stream))->is_capturing =
        is_capturing != 0;
}
