#include "uct/cuda/base/context_streams.hpp"

#include "ucs/cuda/scoped_context.hpp"
#include "ucs/type/allocated.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

std::string name_of(lane_number number) {
    switch (number) {
        case lane_number::host_to_device:
            return "host_to_device";
        case lane_number::device_to_host:
            return "device_to_host";
        case lane_number::device_to_device:
            return "device_to_device";
        case lane_number::immediate:
            return "immediate";
        case lane_number::first_peer:
            break;
    }
    return "peer_" + std::to_string(static_cast<unsigned>(number) -
                                    static_cast<unsigned>(lane_number::first_peer));
}

}  // namespace

ucs::result<std::unique_ptr<context_streams>> context_streams::make(const driver_functions& driver,
                                                                    CUcontext context) {
    context_identity identity{context, 0};
    const CUresult outcome = driver.cuCtxGetId == nullptr
                                 ? CUDA_ERROR_NOT_SUPPORTED
                                 : driver.cuCtxGetId(context, &identity.number);
    // Drivers older than CUDA 12 know no numbers.
    if (outcome != CUDA_ERROR_NOT_SUPPORTED) {
        const ucs_status_t status = check(outcome, "cuCtxGetId");
        if (status != UCS_OK) return status;
    }
    return std::unique_ptr<context_streams>(new context_streams(driver, identity));
}

context_streams::~context_streams() {
    // Events of cancelled operations may be left.
    for_each_lane([](lane& each) { each.in_flight.clear(); });
    scoped_context current;
    if (state_ != condition::gone && is_alive()) current.enter(driver_, context_.handle);
    if (current.status() != CUDA_SUCCESS) {
        abandon();
        return;
    }
    bounce_ = {};
    for (const std::unique_ptr<pending_event>& each : events_)
        each->event = {};
    for_each_lane([](lane& each) { each.stream = {}; });
}

void context_streams::abandon() noexcept {
    bounce_.abandon();
    for (const std::unique_ptr<pending_event>& each : events_)
        each->event.abandon();
    for_each_lane([](lane& each) { each.stream.abandon(); });
}

bool context_streams::is_alive() const noexcept {
    if (driver_.cuCtxGetId == nullptr) return true;
    unsigned long long number = 0;
    switch (driver_.cuCtxGetId(context_.handle, &number)) {
        case CUDA_SUCCESS:
            return number == context_.number;
        case CUDA_ERROR_INVALID_CONTEXT:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_INVALID_VALUE:
        case CUDA_ERROR_DEINITIALIZED:
            return false;
        default:
            // The driver reports an earlier failure.
            return true;
    }
}

void context_streams::note_failure(CUresult outcome) noexcept {
    const bool is_gone = outcome == CUDA_ERROR_INVALID_CONTEXT ||
                         outcome == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
                         outcome == CUDA_ERROR_DEINITIALIZED || !is_alive();
    set_state(is_gone ? condition::gone : condition::broken);
}

ucs::result<lane*> context_streams::find_lane(lane_number number) {
    std::unique_ptr<lane>& found = lanes_[static_cast<unsigned>(number)];
    if (found == nullptr) {
        auto stream = make_stream(driver_);
        if (!stream) return stream.status();
        found.reset(new lane{*this, name_of(number), std::move(*stream)});
    }
    return found.get();
}

pending_event* context_streams::take_free() noexcept {
    if (!free_.empty()) {
        pending_event& found = free_.front();
        free_.pop_front();
        return &found;
    }
    CUevent made = nullptr;
    if (driver_.cuEventCreate(&made, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return nullptr;
    event owned(driver_, made);
    const bool is_kept = ucs::allocated([&] {
        events_.reserve(events_.size() + 1);
        events_.push_back(std::make_unique<pending_event>());
        events_.back()->event = std::move(owned);
    });
    return is_kept ? events_.back().get() : nullptr;
}

bool context_streams::record(lane& behind, operation& waiter) noexcept {
    pending_event* const fresh = take_free();
    if (fresh == nullptr) return false;
    if (driver_.cuEventRecord(fresh->event.get(), behind.stream.get()) != CUDA_SUCCESS) {
        free_.push_back(*fresh);
        return false;
    }
    fresh->waiter = &waiter;
    ++waiter.pending;
    behind.in_flight.push_back(*fresh);
    ++events_in_flight_;
    return true;
}

operation* context_streams::take_event(lane& from) noexcept {
    pending_event& first = from.in_flight.front();
    from.in_flight.pop_front();
    free_.push_back(first);
    --events_in_flight_;
    return std::exchange(first.waiter, nullptr);
}

std::span<std::byte> context_streams::bounce() noexcept {
    if (!bounce_ && !has_no_bounce_) {
        auto made = pinned_memory::allocate(driver_, bounce_size);
        if (made)
            bounce_ = std::move(*made);
        else
            has_no_bounce_ = true;
    }
    return bounce_.bytes();
}

void context_streams::describe(ucs::vfs::directory& into) const {
    into.file("events", [this] { return std::to_string(events_.size()); });
    into.file("events_in_flight", [this] { return std::to_string(events_in_flight_); });
    into.folder("streams", [this](ucs::vfs::directory& streams) {
        for (const std::unique_ptr<lane>& each : lanes_) {
            if (each == nullptr) continue;
            streams.folder(each->name, [one = each.get()](ucs::vfs::directory& stream) {
                stream.file("copies", [one] { return std::to_string(one->copies); });
                stream.file("bytes", [one] { return std::to_string(one->bytes); });
            });
        }
    });
}

}  // namespace uct::cuda
