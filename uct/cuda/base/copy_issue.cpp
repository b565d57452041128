#include "uct/cuda/base/copy_issue.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "ucs/type/allocated.hpp"
#include "uct/base/log.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

// Copies between devices run on the source, because writing over a link is faster than reading.
const device_memory& running_on(const copy_side& to, const copy_side& from) noexcept {
    return from.memory != nullptr ? *from.memory : *to.memory;
}

lane_number lane_of(const copy_side& to, const copy_side& from) noexcept {
    if (from.memory == nullptr) return lane_number::host_to_device;
    if (to.memory == nullptr) return lane_number::device_to_host;
    return lane_number::device_to_device;
}

CUdeviceptr pointer(const void* address) noexcept {
    return reinterpret_cast<CUdeviceptr>(address);
}

ucs_status_t check_copy(CUresult outcome, const char* call, std::size_t length) noexcept {
    if (outcome == CUDA_SUCCESS) [[likely]]
        return UCS_OK;
    ucs_status_t status = status_of(outcome);
    static_cast<void>(ucs::allocated(
        [&] { status = check(outcome, call, fmt::format("to copy {} bytes", length)); }));
    return status;
}

}  // namespace

ucs::result<std::optional<device_memory>> find_memory(const void* address) noexcept {
    const ucs::memory::memory_at found = ucs::memory::find_memory(address);
    if (found.is_known) return found.device;
    ucs::log::error(cuda_log, "the driver does not tell whose memory is at {}", address);
    return UCS_ERR_IO_ERROR;
}

ucs_status_t report_no_copy_memory() noexcept {
    ucs::log::error(cuda_log, "out of memory: a copy of device memory cannot be started");
    return UCS_ERR_NO_MEMORY;
}

ucs_status_t copy_issue::copy_pieces(const copy_queue::transfer& wanted) noexcept {
    auto* next = reinterpret_cast<std::byte*>(wanted.place);
    const device_memory* memory = wanted.memory;
    ucs::result<std::optional<device_memory>> found(std::nullopt);
    if (memory == nullptr) {
        found = find_memory(next);
        if (!found) return found.status();
        if (*found) memory = &**found;
    }
    for (const iov& piece : wanted.pieces) {
        if (piece.length == 0) continue;
        const auto local = find_memory(piece.base);
        if (!local) return local.status();
        const copy_side own{piece.base, *local ? &**local : nullptr};
        const copy_side range{next, memory};
        const ucs_status_t status = wanted.is_to_pieces
                                        ? copy(own, range, piece.length, wanted.lane)
                                        : copy(range, own, piece.length, wanted.lane);
        if (status != UCS_OK) return status;
        next += piece.length;
    }
    return UCS_OK;
}

ucs_status_t copy_issue::copy(const copy_side& to, const copy_side& from, std::size_t length,
                              const std::optional<lane_number>& wanted) noexcept {
    if (to.memory == nullptr && from.memory == nullptr) {
        std::memmove(to.address, from.address, length);
        return UCS_OK;
    }
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    const bool has_memory = ucs::allocated([&] {
        const auto found = lane_in(running_on(to, from), wanted.value_or(lane_of(to, from)));
        status = found.status();
        if (!found) return;
        if (from.memory != nullptr) queue_.sources_.add(*queue_.driver_, *from.memory);
        status = copy_on(**found, to.address, from.address, length);
    });
    return has_memory ? status : report_no_copy_memory();
}

ucs_status_t copy_issue::copy_on(lane& on, void* to, const void* from,
                                 std::size_t length) noexcept {
    const CUresult outcome =
        queue_.driver_->cuMemcpyAsync(pointer(to), pointer(from), length, on.stream.get());
    if (outcome != CUDA_SUCCESS) return check_copy(outcome, "cuMemcpyAsync", length);
    ++on.copies;
    on.bytes += length;
    return touch(on);
}

ucs_status_t copy_issue::copy_and_wait(lane& on, const copy_side& to, const copy_side& from,
                                       std::size_t length) noexcept {
    const bool is_staged =
        (to.memory == nullptr || from.memory == nullptr) && length <= context_streams::bounce_size;
    void* const bounce = is_staged ? on.owner.bounce().data() : nullptr;
    void* const into = bounce != nullptr && to.memory == nullptr ? bounce : to.address;
    void* const source = bounce != nullptr && from.memory == nullptr ? bounce : from.address;
    if (from.memory != nullptr) queue_.sources_.add(*queue_.driver_, *from.memory);
    if (source != from.address) std::memcpy(source, from.address, length);
    const CUresult started =
        queue_.driver_->cuMemcpyAsync(pointer(into), pointer(source), length, on.stream.get());
    // Nothing may use the memory after an error either.
    const CUresult ended = queue_.driver_->cuStreamSynchronize(on.stream.get());
    if (ended != CUDA_SUCCESS) on.owner.note_failure(ended);
    const ucs_status_t status = started != CUDA_SUCCESS
                                    ? check_copy(started, "cuMemcpyAsync", length)
                                    : check_copy(ended, "cuStreamSynchronize", length);
    if (status != UCS_OK) return status;
    ++on.copies;
    on.bytes += length;
    if (into != to.address) std::memcpy(to.address, into, length);
    return UCS_OK;
}

ucs_status_t copy_issue::record(operation& waiter) noexcept {
    ucs_status_t first = UCS_OK;
    for (std::size_t i = 0; i < touched_count_; ++i) {
        const ucs_status_t status = record(*touched_[i], waiter);
        if (first == UCS_OK) first = status;
    }
    touched_count_ = 0;
    return first;
}

ucs_status_t copy_issue::enter(context_streams& streams) noexcept {
    if (current_ == &streams) return UCS_OK;
    current_ = nullptr;
    scope_.enter(*queue_.driver_, streams.context());
    const CUresult outcome = scope_.status();
    if (outcome != CUDA_SUCCESS) {
        streams.note_failure(outcome);
        return check(outcome, "cuCtxPushCurrent_v2");
    }
    current_ = &streams;
    return UCS_OK;
}

ucs::result<lane*> copy_issue::lane_in(const device_memory& memory, lane_number number) {
    const bool is_current = current_ != nullptr && current_->context() == memory.context;
    auto streams =
        is_current ? ucs::result<context_streams*>(current_) : queue_.streams_for(memory);
    if (!streams) return streams.status();
    const ucs_status_t status = enter(**streams);
    if (status != UCS_OK) return status;
    return (*streams)->find_lane(number);
}

ucs_status_t copy_issue::touch(lane& on) noexcept {
    if (std::exchange(on.is_touched, true)) return UCS_OK;
    // An operation on more streams than this waits for the others here.
    if (touched_count_ == touched_.size()) return wait(on);
    touched_[touched_count_++] = &on;
    return UCS_OK;
}

ucs_status_t copy_issue::record(lane& behind, operation& waiter) noexcept {
    const ucs_status_t status = enter(behind.owner);
    // The queue waits for the stream before it drops it.
    if (status != UCS_OK) return status;
    if (!behind.owner.record(behind, waiter)) return wait(behind);
    behind.is_touched = false;
    return UCS_OK;
}

ucs_status_t copy_issue::wait(lane& on) noexcept {
    const CUresult outcome = queue_.driver_->cuStreamSynchronize(on.stream.get());
    on.is_touched = false;
    if (outcome != CUDA_SUCCESS) on.owner.note_failure(outcome);
    return check(outcome, "cuStreamSynchronize");
}

}  // namespace uct::cuda
