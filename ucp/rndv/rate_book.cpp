#include "ucp/rndv/rate_book.hpp"

#include <algorithm>
#include <bit>

namespace ucp {

namespace {

constexpr double weight = 0.25;  // of a new observation
constexpr double outlier = 4;    // longer than this: somebody was not scheduled
constexpr double hopeless = 3;   // methods slower than this are not tried again
constexpr std::uint32_t explore_every = 64;
constexpr std::uint32_t first_look = 4;  // messages after which unknown methods get a try

double follow(double average, double sample) noexcept {
    if (average <= 0) return sample;
    return average + weight * (std::min(sample, average * outlier) - average);
}

}  // namespace

std::size_t rate_book::index(std::size_t length) noexcept {
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(length)), class_count - 1);
}

double rate_book::observed(rndv_method how, std::size_t length) const noexcept {
    const double per_byte = classes_[index(length)].per_byte[static_cast<std::size_t>(how)];
    return per_byte * static_cast<double>(length);
}

rndv_method rate_book::choose(std::size_t length, const seconds& predicted) noexcept {
    size_class& here = classes_[index(length)];
    seconds cost = predicted;
    std::size_t best = rndv_method_count;
    for (std::size_t i = 0; i < rndv_method_count; ++i) {
        if (predicted[i] < 0) continue;
        if (here.per_byte[i] > 0) cost[i] = here.per_byte[i] * static_cast<double>(length);
        if (best == rndv_method_count || cost[i] < cost[best]) best = i;
    }
    ++here.chosen;
    for (std::size_t i = 0; i < rndv_method_count; ++i) {
        if (i == best || predicted[i] < 0 || cost[i] > hopeless * cost[best]) continue;
        const bool unknown = here.per_byte[i] <= 0 && here.chosen >= first_look;
        // The methods take turns, so that one round does not try all of them.
        const bool due = here.chosen % (explore_every * rndv_method_count) == explore_every * i;
        if (unknown || due) return static_cast<rndv_method>(i);
    }
    return static_cast<rndv_method>(best);
}

void rate_book::observe(rndv_method how, std::size_t length, double took) noexcept {
    if (length == 0) return;
    double& per_byte = classes_[index(length)].per_byte[static_cast<std::size_t>(how)];
    per_byte = follow(per_byte, took / static_cast<double>(length));
}

void stream_rate::observe(std::size_t length, double took) noexcept {
    if (took <= 0) return;
    const double sample = static_cast<double>(length) / took;
    current_ += weight * (std::max(sample, current_ / outlier) - current_);
    ++count_;
}

bool stream_rate::outdated() const noexcept {
    return count_ >= 8 && (current_ > used_ * 1.4 || current_ < used_ / 1.4);
}

}  // namespace ucp
