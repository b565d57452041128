// The log and the counters of a worker.
#pragma once

#include <memory>

#include "ucp/core/worker_view.hpp"
#include "ucs/log/throttle.hpp"

namespace ucp {

// Part of the worker; owner context.
class worker_log {
public:
    explicit worker_log(std::shared_ptr<worker_view> view) noexcept : view_(std::move(view)) {}

    // Throttled log for invalid messages of peers, including those of the interfaces.
    [[nodiscard]] ucs::log::throttle& rejected() noexcept { return rejected_; }
    [[nodiscard]] const ucs::log::throttle& rejected() const noexcept { return rejected_; }
    // Throttled log for workers that no transport reaches: peers may send any number of addresses.
    [[nodiscard]] ucs::log::throttle& unreachable() noexcept { return unreachable_; }
    void count(activity event) noexcept { view_->counters[event].add(); }
    [[nodiscard]] std::uint64_t counted(activity event) const noexcept {
        return view_->counters[event].get();
    }
    // The part that other threads may read.
    [[nodiscard]] const std::shared_ptr<worker_view>& view() const noexcept { return view_; }

private:
    ucs::log::throttle rejected_;
    ucs::log::throttle unreachable_;
    const std::shared_ptr<worker_view> view_;
};

}  // namespace ucp
