#include "uct/cuda/base/copy_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "ucs/type/allocated.hpp"
#include "uct/base/log.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

// One end of a copy. `memory` is null for memory of the host.
struct side {
    void* address;
    const device_memory* memory;
};

// Returns nothing for memory of the host.
ucs::result<std::optional<device_memory>> find_memory(const void* address) noexcept {
    const ucs::memory::memory_at found = ucs::memory::find_memory(address);
    if (found.is_known) return found.device;
    ucs::log::error(cuda_log, "the driver does not tell whose memory is at {}", address);
    return UCS_ERR_IO_ERROR;
}

// Copies between devices run on the source, because writing over a link is faster than reading.
const device_memory& running_on(const side& to, const side& from) noexcept {
    return from.memory != nullptr ? *from.memory : *to.memory;
}

lane_number lane_of(const side& to, const side& from) noexcept {
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

ucs_status_t report_no_memory() noexcept {
    ucs::log::error(cuda_log, "out of memory: a copy of device memory cannot be started");
    return UCS_ERR_NO_MEMORY;
}

}  // namespace

// The copies of one operation. Keeps the context current between them, and records events behind
// them.
class copy_queue::issue {
public:
    explicit issue(copy_queue& queue) noexcept : queue_(queue) {}

    // Starts the copies of all pieces. Returns UCS_OK or an error, which is logged; the copies
    // before it were started.
    ucs_status_t copy_pieces(const transfer& wanted) noexcept {
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
            const side own{piece.base, *local ? &**local : nullptr};
            const side range{next, memory};
            const ucs_status_t status = wanted.is_to_pieces
                                            ? copy(own, range, piece.length, wanted.lane)
                                            : copy(range, own, piece.length, wanted.lane);
            if (status != UCS_OK) return status;
            next += piece.length;
        }
        return UCS_OK;
    }

    // Starts one copy. Returns UCS_OK or an error, which is logged.
    ucs_status_t copy(const side& to, const side& from, std::size_t length,
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
        return has_memory ? status : report_no_memory();
    }

    // Copies, and waits for the end. Host memory goes through pinned memory. The context of the
    // stream is current.
    ucs_status_t copy_and_wait(lane& on, const side& to, const side& from,
                               std::size_t length) noexcept {
        const bool is_staged = (to.memory == nullptr || from.memory == nullptr) &&
                               length <= context_streams::bounce_size;
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

    // Lets the operation wait for the copies. Copies for which there is no event have ended when
    // this returns. Returns UCS_OK, or an error if a copy may not have ended as it should.
    ucs_status_t record(operation& waiter) noexcept {
        ucs_status_t first = UCS_OK;
        for (std::size_t i = 0; i < touched_count_; ++i) {
            const ucs_status_t status = record(*touched_[i], waiter);
            if (first == UCS_OK) first = status;
        }
        touched_count_ = 0;
        return first;
    }

    // Makes the streams' context current until the next call or the end of this object.
    [[nodiscard]] ucs_status_t enter(context_streams& streams) noexcept {
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

    // Returns a stream for copies of this memory, whose context becomes current.
    [[nodiscard]] ucs::result<lane*> lane_in(const device_memory& memory, lane_number number) {
        const bool is_current = current_ != nullptr && current_->context() == memory.context;
        auto streams =
            is_current ? ucs::result<context_streams*>(current_) : queue_.streams_for(memory);
        if (!streams) return streams.status();
        const ucs_status_t status = enter(**streams);
        if (status != UCS_OK) return status;
        return (*streams)->find_lane(number);
    }

private:
    ucs_status_t copy_on(lane& on, void* to, const void* from, std::size_t length) noexcept {
        const CUresult outcome =
            queue_.driver_->cuMemcpyAsync(pointer(to), pointer(from), length, on.stream.get());
        if (outcome != CUDA_SUCCESS) return check_copy(outcome, "cuMemcpyAsync", length);
        ++on.copies;
        on.bytes += length;
        touch(on);
        return UCS_OK;
    }

    void touch(lane& on) noexcept {
        if (std::exchange(on.is_touched, true)) return;
        // An operation on more streams than this waits for the first ones here.
        if (touched_count_ == touched_.size()) {
            on.is_touched = false;
            static_cast<void>(wait(on));
            return;
        }
        touched_[touched_count_++] = &on;
    }

    ucs_status_t record(lane& behind, operation& waiter) noexcept {
        behind.is_touched = false;
        const ucs_status_t status = enter(behind.owner);
        if (status != UCS_OK) return status;
        return behind.owner.record(behind, waiter) ? UCS_OK : wait(behind);
    }

    ucs_status_t wait(lane& on) noexcept {
        const CUresult outcome = queue_.driver_->cuStreamSynchronize(on.stream.get());
        if (outcome != CUDA_SUCCESS) on.owner.note_failure(outcome);
        return check(outcome, "cuStreamSynchronize");
    }

    copy_queue& queue_;
    context_streams* current_ = nullptr;
    scoped_context scope_;
    std::array<lane*, 8> touched_{};
    std::size_t touched_count_ = 0;
};

copy_queue::~copy_queue() = default;

operation* copy_queue::take_free() noexcept {
    operation* found = nullptr;
    if (!free_.empty()) {
        found = &free_.front();
        free_.pop_front();
    } else if (!ucs::allocated([&] {
                   all_.reserve(all_.size() + 1);
                   all_.push_back(std::make_unique<operation>());
                   found = all_.back().get();
               })) {
        return nullptr;
    }
    ++in_flight_;
    return found;
}

void copy_queue::give_back(operation& ended) noexcept {
    ended.done = nullptr;
    ended.pending = 0;
    ended.is_flush = false;
    ended.status = UCS_OK;
    free_.push_front(ended);
    --in_flight_;
}

ucs::result<CUcontext> copy_queue::context_for(const device_memory& memory) {
    if (memory.context != nullptr) return memory.context;
    const auto number = static_cast<std::size_t>(memory.device);
    if (primaries_.size() <= number) primaries_.resize(number + 1);
    primary_context& kept = primaries_[number];
    // A program that resets the device destroys its primary context, whoever retains it.
    const bool is_kept =
        kept.handle() != nullptr && std::ranges::any_of(contexts_, [&](const auto& each) {
            return each->context() == kept.handle() && each->is_alive();
        });
    if (!is_kept) {
        auto made = primary_context::retain(*driver_, memory.device);
        if (!made) return made.status();
        kept = std::move(*made);
    }
    return kept.handle();
}

ucs::result<context_streams*> copy_queue::streams_for(const device_memory& memory) {
    if (driver_ == nullptr) driver_ = loaded_driver();
    if (driver_ == nullptr) return UCS_ERR_NO_DEVICE;
    const auto context = context_for(memory);
    if (!context) return context.status();
    for (const auto& each : contexts_) {
        if (each->context() != *context || each->state() != context_streams::condition::usable)
            continue;
        if (each->is_alive()) return each.get();
        each->set_state(context_streams::condition::gone);
    }
    auto made = context_streams::make(*driver_, *context);
    if (!made) return made.status();
    contexts_.push_back(std::move(*made));
    return contexts_.back().get();
}

ucs_status_t copy_queue::start(const transfer& wanted, operation_list& owner,
                               completion* done) noexcept {
    if (in_flight_ >= limits_.operations) return UCS_ERR_NO_RESOURCE;
    operation* const fresh = take_free();
    if (fresh == nullptr) return report_no_memory();
    ucs_status_t status = UCS_OK;
    {
        issue copies(*this);
        status = copies.copy_pieces(wanted);
        // A copy that was started uses the memory, even if the rest failed.
        const ucs_status_t recorded = copies.record(*fresh);
        if (status == UCS_OK) status = recorded;
    }
    const bool is_in_flight = fresh->pending > 0;
    if (is_in_flight) {
        fresh->done = done;
        fresh->status = status;
        owner.add(*fresh);
    } else {
        give_back(*fresh);
    }
    drop_unusable();
    return is_in_flight ? UCS_INPROGRESS : status;
}

ucs_status_t copy_queue::copy_now(void* to, const void* from, std::size_t length) noexcept {
    if (length == 0) return UCS_OK;
    const auto target = find_memory(to);
    if (!target) return target.status();
    const auto source = find_memory(from);
    if (!source) return source.status();
    if (!*target && !*source) {
        std::memmove(to, from, length);
        return UCS_OK;
    }
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    const bool has_memory = ucs::allocated([&] {
        issue copies(*this);
        const auto on = copies.lane_in(*source ? **source : **target, lane_number::immediate);
        status = on ? copies.copy_and_wait(**on, {to, *target ? &**target : nullptr},
                                           {const_cast<void*>(from), *source ? &**source : nullptr},
                                           length)
                    : on.status();
    });
    drop_unusable();
    return has_memory ? status : report_no_memory();
}

ssize_t copy_queue::copy_packed(pack_function pack, void* arg, std::uint64_t place) noexcept {
    auto* const to = reinterpret_cast<std::byte*>(place);
    const auto memory = find_memory(to);
    if (!memory) return memory.status();
    ssize_t result = UCS_ERR_NO_MEMORY;
    const bool has_memory = ucs::allocated([&] {
        if (!*memory) {
            scratch_.resize(context_streams::bounce_size);
            result = static_cast<ssize_t>(pack(arg, scratch_.data(), scratch_.size()));
            std::memcpy(to, scratch_.data(), static_cast<std::size_t>(result));
            return;
        }
        issue copies(*this);
        const auto on = copies.lane_in(**memory, lane_number::immediate);
        result = on.status();
        if (!on) return;
        std::span<std::byte> staging = (*on)->owner.bounce();
        if (staging.empty()) {
            scratch_.resize(context_streams::bounce_size);
            staging = scratch_;
        }
        const std::size_t length = pack(arg, staging.data(), staging.size());
        if (length == 0) return;
        const ucs_status_t status =
            copies.copy_and_wait(**on, {to, &**memory}, {staging.data(), nullptr}, length);
        result = status;
        if (status == UCS_OK) result = static_cast<ssize_t>(length);
    });
    drop_unusable();
    if (!has_memory) return report_no_memory();
    return result;
}

ucs_status_t copy_queue::flush(operation_list& owner, completion* done) noexcept {
    if (owner.empty()) return UCS_OK;
    operation* const fresh = take_free();
    if (fresh == nullptr) return report_no_memory();
    fresh->done = done;
    fresh->is_flush = true;
    owner.add(*fresh);
    return UCS_INPROGRESS;
}

void copy_queue::end_part(operation* waiter, ucs_status_t status) noexcept {
    if (waiter == nullptr) return;
    if (waiter->status == UCS_OK) waiter->status = status;
    if (--waiter->pending == 0) ended_.push_back(*waiter);
}

void copy_queue::poll(context_streams& in, lane& on) noexcept {
    for (unsigned turn = 0; turn < limits_.events_per_turn && !on.in_flight.empty(); ++turn) {
        const CUresult outcome = driver_->cuEventQuery(on.in_flight.front().event.get());
        if (outcome == CUDA_ERROR_NOT_READY) return;
        // The copy may still run although the driver refuses to tell about it.
        if (outcome != CUDA_SUCCESS &&
            driver_->cuStreamSynchronize(on.stream.get()) != CUDA_SUCCESS) {
            check(outcome, "cuEventQuery");
            return in.note_failure(outcome);
        }
        end_part(in.take_event(on), UCS_OK);
    }
}

void copy_queue::poll(context_streams& in) noexcept {
    if (!in.is_alive()) return in.set_state(context_streams::condition::gone);
    const scoped_context current(*driver_, in.context());
    if (current.status() != CUDA_SUCCESS) {
        in.note_failure(current.status());
        if (in.state() != context_streams::condition::gone)
            check(current.status(), "cuCtxPushCurrent_v2");
        return;
    }
    in.for_each_lane([&](lane& on) {
        if (in.state() == context_streams::condition::usable) poll(in, on);
    });
}

// Ends everything that waits for events of a context that cannot be used.
void copy_queue::end_all(context_streams& in) noexcept {
    const bool is_gone = in.state() == context_streams::condition::gone;
    scoped_context current;
    if (!is_gone) current.enter(*driver_, in.context());
    std::size_t lost = 0;
    in.for_each_lane([&](lane& on) {
        if (on.in_flight.empty()) return;
        const CUresult outcome = is_gone ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                         : driver_->cuStreamSynchronize(on.stream.get());
        while (!on.in_flight.empty()) {
            end_part(in.take_event(on), status_of(outcome));
            if (outcome != CUDA_SUCCESS) ++lost;
        }
    });
    // Other failures were logged when they were found.
    if (lost > 0 && is_gone)
        ucs::log::error(cuda_log, "{} copies have failed: their CUDA context is destroyed", lost);
}

void copy_queue::drop_unusable() noexcept {
    bool any = false;
    for (const auto& each : contexts_) {
        if (each->state() == context_streams::condition::usable) continue;
        end_all(*each);
        any = true;
    }
    if (!any) return;
    std::erase_if(contexts_, [](const auto& each) {
        return each->state() != context_streams::condition::usable;
    });
}

void copy_queue::wait_for(operation& pending) noexcept {
    for (const auto& each : contexts_) {
        context_streams& in = *each;
        if (!in.has_events()) continue;
        if (!in.is_alive()) {
            in.set_state(context_streams::condition::gone);
            continue;
        }
        const scoped_context current(*driver_, in.context());
        in.for_each_lane([&](lane& on) {
            for (pending_event& event : on.in_flight) {
                if (event.waiter != &pending) continue;
                event.waiter = nullptr;
                if (driver_->cuEventSynchronize(event.event.get()) == CUDA_SUCCESS) continue;
                const CUresult outcome = driver_->cuStreamSynchronize(on.stream.get());
                check(outcome, "cuStreamSynchronize");
                if (outcome != CUDA_SUCCESS) in.note_failure(outcome);
            }
        });
    }
}

void copy_queue::cancel(operation_list& owner) noexcept {
    while (!owner.empty()) {
        operation& oldest = owner.front();
        const bool has_ended = oldest.in_queue.is_linked();
        if (has_ended)
            ended_.erase(ended_.iterator_to(oldest));
        else
            wait_for(oldest);
        completion* const done = oldest.done;
        const ucs_status_t status = has_ended ? oldest.status : UCS_ERR_CANCELED;
        owner.remove(oldest);
        give_back(oldest);
        if (done != nullptr) done->finish(status);
    }
    drop_unusable();
}

unsigned copy_queue::report_ended() noexcept {
    unsigned reported = 0;
    while (!ended_.empty()) {
        operation& first = ended_.front();
        ended_.pop_front();
        operation_list& owner = *first.owner;
        completion* const done = first.done;
        const ucs_status_t status = first.status;
        owner.remove(first);
        give_back(first);
        // The callback may destroy the owner.
        if (!owner.empty() && owner.front().is_flush && !owner.front().in_queue.is_linked())
            ended_.push_back(owner.front());
        if (done != nullptr) done->finish(status);
        ++reported;
    }
    return reported;
}

unsigned copy_queue::progress() noexcept {
    if (in_flight_ == 0) [[likely]]
        return 0;
    for (const auto& each : contexts_) {
        if (each->has_events()) poll(*each);
    }
    drop_unusable();
    return report_ended();
}

void copy_queue::describe(ucs::vfs::directory& into) const {
    into.file("in_flight", [this] { return std::to_string(in_flight_); });
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        into.folder(
            "context_" + std::to_string(i),
            [one = contexts_[i].get()](ucs::vfs::directory& folder) { one->describe(folder); });
    }
}

}  // namespace uct::cuda
