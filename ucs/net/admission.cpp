#include "ucs/net/admission.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace ucs::net {

ucs_status_t admission::add(candidate& fresh, const origin& from,
                            ucs::time::nanoseconds now) noexcept {
    try {
        fresh.share_ = &shares_[from];
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
    ++fresh.share_->silent;
    fresh.owner_ = this;
    fresh.origin_ = from;
    fresh.is_preferred_ = false;
    fresh.deadline_ = now > never - limits_.time_to_prove ? never : now + limits_.time_to_prove;
    fresh.preferred_until_ = now + limits_.time_of_preference;
    candidates_.push_back(fresh);
    return UCS_OK;
}

void admission::remove(candidate& which) noexcept {
    if (!which.is_added()) return;
    which.owner_ = nullptr;
    candidates_.erase(candidates_.iterator_to(which));
    share& of_origin = *std::exchange(which.share_, nullptr);
    --(which.is_preferred_ ? of_origin.preferred : of_origin.silent);
    if (of_origin.all() == 0) shares_.erase(which.origin_);
}

void admission::prefer(candidate& which) noexcept {
    if (!which.is_added() || std::exchange(which.is_preferred_, true)) return;
    --which.share_->silent;
    ++which.share_->preferred;
}

void admission::set_deadline(candidate& which, ucs::time::nanoseconds deadline) noexcept {
    which.deadline_ = deadline;
}

void admission::end_preferences(ucs::time::nanoseconds now) noexcept {
    for (candidate& each : candidates_) {
        if (now < each.preferred_until_) return;  // and younger ones have more time
        if (!std::exchange(each.is_preferred_, false)) continue;
        --each.share_->preferred;
        ++each.share_->silent;
    }
}

bool admission::is_busy() const noexcept {
    if (limits_.time_of_preference == 0) return false;
    std::size_t all = 0;
    for (const auto& each : shares_) {
        all += each.second.preferred;
        if (each.second.preferred > limits_.most_per_origin / 2) return true;
    }
    return all > limits_.most / 2;
}

admission::candidate* admission::excess(ucs::time::nanoseconds now) noexcept {
    if (limits_.time_of_preference != 0) end_preferences(now);
    const auto exceeds = [this](const auto& each) {
        return each.second.all() > limits_.most_per_origin;
    };
    const bool too_many = candidates_.size() > limits_.most;
    // Every added candidate is checked in turn, so only one origin at a time is above its quota.
    if (const auto found = std::find_if(shares_.begin(), shares_.end(), exceeds);
        found != shares_.end()) {
        return oldest(found->second, found->second.silent == 0);
    }
    return too_many ? least() : nullptr;
}

admission::candidate* admission::least() noexcept {
    if (shares_.empty()) return nullptr;
    const auto of_silent = [](const auto& a, const auto& b) {
        return a.second.silent < b.second.silent;
    };
    const auto of_preferred = [](const auto& a, const auto& b) {
        return a.second.preferred < b.second.preferred;
    };
    const share& most = std::max_element(shares_.begin(), shares_.end(), of_silent)->second;
    if (most.silent != 0) return oldest(most, false);
    return oldest(std::max_element(shares_.begin(), shares_.end(), of_preferred)->second, true);
}

admission::candidate* admission::oldest(const share& of_origin, bool is_preferred) noexcept {
    const auto found = std::ranges::find_if(candidates_, [&](const candidate& each) {
        return each.share_ == &of_origin && each.is_preferred_ == is_preferred;
    });
    return found == candidates_.end() ? nullptr : &*found;
}

admission::candidate* admission::overdue(ucs::time::nanoseconds now) noexcept {
    const auto found = std::ranges::find_if(
        candidates_, [now](const candidate& each) { return each.deadline_ <= now; });
    return found == candidates_.end() ? nullptr : &*found;
}

}  // namespace ucs::net
