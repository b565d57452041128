#include "test/cuda/driver/event.hpp"

#include <chrono>
#include <map>

#include "test/cuda/driver/handle.hpp"

namespace standin {
namespace {

std::map<CUevent, event>& events() {
    static auto& only = *new std::map<CUevent, event>;
    return only;
}

constexpr unsigned all_event_flags = 0x7;

event& find_event(CUevent handle) {
    const auto found = events().find(handle);
    if (found == events().end()) fail(CUDA_ERROR_INVALID_HANDLE, "no event has this handle");
    return found->second;
}

event& find_working_event(CUevent handle) {
    event& found = find_event(handle);
    check_works(*found.owner);
    return found;
}

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
}

}  // namespace

void drop_events(const context& dying) {
    std::erase_if(events(), [&](const auto& each) { return each.second.owner.get() == &dying; });
}

void for_each_event(const std::function<void(const event&)>& visitor) {
    for (const auto& [handle, each] : events())
        visitor(each);
}

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
    return call(function::cuEventCreate, [&](held_lock&) {
        check_pointer(handle);
        check_argument(flags <= all_event_flags, "there are no such flags");
        const context_ref owner = current_context();
        *handle = make_handle<CUevent>();
        events().emplace(
            *handle,
            event{*handle, owner, (flags & CU_EVENT_DISABLE_TIMING) == 0, false, {}, nullptr});
    });
}

CUresult cuEventDestroy_v2(CUevent handle) {
    return call(function::cuEventDestroy_v2, [&](held_lock&) {
        static_cast<void>(current_context_even_broken());
        const context_ref owner = find_event(handle).owner;
        events().erase(handle);
        check_works(*owner);
    });
}

CUresult cuEventRecord(CUevent handle, CUstream on) {
    return call(function::cuEventRecord, [&](held_lock&) {
        static_cast<void>(current_context());
        event& recorded = find_working_event(handle);
        const stream_ref target = find_stream(on);
        if (target->owner != recorded.owner)
            fail(CUDA_ERROR_INVALID_HANDLE, "event and stream are of different contexts");
        auto reached = std::make_shared<std::uint64_t>(0);
        operation added;
        added.finish = [reached] { *reached = now_ns(); };
        recorded.recorded = enqueue(target, std::move(added));
        recorded.reached_ns = std::move(reached);
        recorded.is_recorded = true;
    });
}

CUresult cuEventQuery(CUevent handle) {
    return call(function::cuEventQuery, [&](held_lock&) {
        if (!find_working_event(handle).recorded.is_done())
            fail(CUDA_ERROR_NOT_READY, "work is left");
    });
}

CUresult cuEventSynchronize(CUevent handle) {
    return call(function::cuEventSynchronize, [&](held_lock& lock) {
        const event& found = find_working_event(handle);
        const context_ref owner = found.owner;
        wait_for(lock, {found.recorded});
        check_works(*owner);
    });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
    return call(function::cuEventElapsedTime, [&](held_lock&) {
        check_pointer(milliseconds);
        static_cast<void>(current_context());
        const event& first = find_working_event(begin);
        const event& last = find_working_event(end);
        if (!first.is_recorded || !last.is_recorded || !first.has_time || !last.has_time)
            fail(CUDA_ERROR_INVALID_HANDLE, "an event has no time");
        if (!first.recorded.is_done() || !last.recorded.is_done())
            fail(CUDA_ERROR_NOT_READY, "work is left");
        const auto difference = static_cast<std::int64_t>(*last.reached_ns - *first.reached_ns);
        *milliseconds = static_cast<float>(difference) * 1e-6F;
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent awaited, unsigned flags) {
    return call(function::cuStreamWaitEvent, [&](held_lock&) {
        check_argument(flags == 0, "the flags must be 0");
        static_cast<void>(current_context());
        operation added;
        added.after.push_back(find_working_event(awaited).recorded);
        enqueue(find_stream(handle), std::move(added));
    });
}

}  // namespace standin
