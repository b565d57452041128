#include "uct/cuda/base/copy_queue.hpp"

#include <algorithm>
#include <cstring>

#include "ucs/type/allocated.hpp"
#include "uct/cuda/base/copy_issue.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

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
    if (fresh == nullptr) return report_no_copy_memory();
    ucs_status_t status = UCS_OK;
    {
        copy_issue copies(*this);
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
        copy_issue copies(*this);
        const auto on = copies.lane_in(*source ? **source : **target, lane_number::immediate);
        status = on ? copies.copy_and_wait(**on, {to, *target ? &**target : nullptr},
                                           {const_cast<void*>(from), *source ? &**source : nullptr},
                                           length)
                    : on.status();
    });
    drop_unusable();
    return has_memory ? status : report_no_copy_memory();
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
        copy_issue copies(*this);
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
    if (!has_memory) return report_no_copy_memory();
    return result;
}

}  // namespace uct::cuda
