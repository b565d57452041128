// Copies and fills. Which of them return before they are complete follows from the kinds of memory.
#include <cstring>

#include "test/cuda/driver/range.hpp"
#include "test/cuda/driver/stream.hpp"

namespace standin {
namespace {

struct copy_ranges {
    memory_range to;
    memory_range from;
    // The source if it was pageable and a device's memory is the destination.
    std::vector<char> staged{};
};

using copy_ref = std::shared_ptr<copy_ranges>;

// The program may not read the destination before the copy is complete: a pattern shows mistakes.
void begin_copy(const copy_ranges& copy, const stream& on) {
    check_usable(copy.to, on);
    check_usable(copy.from, on);
    if (overlap(copy.to, copy.from)) return;
    for (const piece& each : copy.to.pieces)
        scribble(each.bytes, each.length);
}

void run_copy(const copy_ranges& copy) {
    check_not_freed(copy.to);
    check_not_freed(copy.from);
    copy_bytes(copy.to, copy.from);
}

marker enqueue_copy(const stream_ref& on, const copy_ref& copy) {
    operation added;
    added.begin = [copy, user = on.get()] { begin_copy(*copy, *user); };
    added.run = [copy] { run_copy(*copy); };
    return enqueue(on, std::move(added));
}

void wait_and_check(held_lock& lock, const stream& on, const std::vector<marker>& awaited) {
    const context_ref owner = on.owner;
    wait_for(lock, awaited);
    check_works(*owner);
}

// Takes the source of a copy from pageable memory before the call returns.
void stage(copy_ranges& copy) {
    const piece source = copy.from.pieces.front();
    copy.staged.assign(source.bytes, source.bytes + source.length);
    copy.from.pieces.front().bytes = copy.staged.data();
}

bool has_pending_host_function(const stream& on) noexcept {
    return on.last_host_function > on.completed;
}

void copy_async(held_lock& lock, const copy_ref& copy, const stream_ref& on) {
    const bool is_upload = copy->from.is_pageable && copy->to.is_device;
    if (is_upload) {
        // The host function may write the source.
        if (has_pending_host_function(*on)) wait_and_check(lock, *on, whole_work(*on));
        stage(*copy);
    }
    const marker end = enqueue_copy(on, copy);
    const bool is_of_host = !copy->to.is_device && !copy->from.is_device;
    if (copy->to.is_pageable || is_of_host) wait_and_check(lock, *on, {end});
}

// The function that is called synchronous does not always wait: it returns before the end of a copy
// within devices, and after a copy from pageable memory was staged.
void copy_sync(held_lock& lock, const copy_ref& copy, const stream_ref& on) {
    const bool is_within_devices = copy->to.is_device && copy->from.is_device;
    const bool is_staged = copy->from.is_pageable && copy->to.is_device;
    const bool has_sync_memops = copy->to.has_sync_memops || copy->from.has_sync_memops;
    if (is_staged) {
        wait_and_check(lock, *on, whole_work(*on));
        stage(*copy);
    }
    const marker end = enqueue_copy(on, copy);
    if (has_sync_memops || (!is_within_devices && !is_staged)) wait_and_check(lock, *on, {end});
}

copy_ref make_copy(std::uint64_t to, std::uint64_t from, std::size_t length, const stream& on) {
    auto made = std::make_shared<copy_ranges>();
    made->to = resolve(to, length, *on.owner);
    made->from = resolve(from, length, *on.owner);
    return made;
}

CUresult call_copy_sync(function called, std::uint64_t to, std::uint64_t from, std::size_t length) {
    return call(called, [&](held_lock& lock) {
        const stream_ref on = find_stream(nullptr);
        if (length > 0) copy_sync(lock, make_copy(to, from, length, *on), on);
    });
}

marker enqueue_fill(const stream_ref& on, const memory_range& filled, unsigned char value) {
    const auto range = std::make_shared<memory_range>(filled);
    operation added;
    added.begin = [range, user = on.get()] { check_usable(*range, *user); };
    added.run = [range, value] {
        check_not_freed(*range);
        for (const piece& each : range->pieces)
            std::memset(each.bytes, value, each.length);
    };
    return enqueue(on, std::move(added));
}

memory_range resolve_filled(std::uint64_t address, std::size_t length, const stream& on) {
    memory_range filled = resolve(address, length, *on.owner);
    check_argument(!filled.is_pageable, "the memory is not one that the driver knows");
    return filled;
}

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t length, CUstream handle) {
    return call(function::cuMemcpyAsync, [&](held_lock& lock) {
        static_cast<void>(current_context());
        const stream_ref on = find_stream(handle);
        if (length > 0) copy_async(lock, make_copy(to, from, length, *on), on);
    });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t length) {
    return call_copy_sync(function::cuMemcpy, to, from, length);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t length) {
    return call_copy_sync(function::cuMemcpyHtoD_v2, to, address_of(from), length);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t length) {
    return call_copy_sync(function::cuMemcpyDtoH_v2, address_of(to), from, length);
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t length,
                         CUstream handle) {
    return call(function::cuMemsetD8Async, [&](held_lock&) {
        static_cast<void>(current_context());
        const stream_ref on = find_stream(handle);
        if (length > 0) enqueue_fill(on, resolve_filled(address, length, *on), value);
    });
}

CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, std::size_t length) {
    return call(function::cuMemsetD8_v2, [&](held_lock& lock) {
        const stream_ref on = find_stream(nullptr);
        if (length == 0) return;
        const memory_range filled = resolve_filled(address, length, *on);
        const marker end = enqueue_fill(on, filled, value);
        // The function returns early where the memory is a device's.
        if (!filled.is_device || filled.is_managed || filled.has_sync_memops)
            wait_and_check(lock, *on, {end});
    });
}

}  // namespace standin
