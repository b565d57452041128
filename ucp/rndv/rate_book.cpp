#include "ucp/rndv/rate_book.hpp"

#include <algorithm>
#include <bit>

namespace ucp {

namespace {

constexpr double weight = 0.25;               // of a new observation
constexpr double outlier = 4;                 // longer than this: somebody was not scheduled
constexpr double hopeless = 3;                // methods slower than this are not tried again
constexpr std::uint32_t first_look = 4;       // messages after which unknown methods get a try
constexpr std::uint32_t trial_share = 64;     // of so many messages one is for trying
constexpr std::uint32_t longest_trial = 256;  // messages
constexpr std::uint32_t batch_size = 32;      // more than most programs have under way

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

bool rate_book::is_worth_a_try(const size_class& here, std::size_t method, bool too_slow) noexcept {
    if (too_slow || here.chosen < first_look) return false;
    // The numbers wrap.
    const bool its_time = static_cast<std::int32_t>(here.chosen - here.next_trial) >= 0;
    return (here.known & (1U << method)) == 0 || its_time;
}

rndv_method rate_book::choose(std::size_t length, const seconds& predicted,
                              const seconds& beside) noexcept {
    size_class& here = classes_[index(length)];
    seconds cost = predicted;
    std::size_t best = rndv_method_count;
    for (std::size_t i = 0; i < rndv_method_count; ++i) {
        if (predicted[i] < 0) continue;
        if (here.per_byte[i] > 0) cost[i] = here.per_byte[i] * static_cast<double>(length);
        cost[i] += beside[i];
        if (best == rndv_method_count || cost[i] < cost[best]) best = i;
    }
    ++here.chosen;
    if (here.trial > 0) {
        if (predicted[static_cast<std::size_t>(here.tried)] >= 0 && here.trial < longest_trial) {
            ++here.trial;
            return here.tried;
        }
        end_trial(here);
    }
    // They take turns, beginning with the one after that which was tried last.
    for (std::size_t step = 1; step <= rndv_method_count; ++step) {
        const std::size_t i = (static_cast<std::size_t>(here.tried) + step) % rndv_method_count;
        if (i == best || predicted[i] < 0) continue;
        if (!is_worth_a_try(here, i, cost[i] > hopeless * cost[best])) continue;
        here.tried = static_cast<rndv_method>(i);
        here.trial = 1;
        return here.tried;
    }
    here.known |= static_cast<std::uint8_t>(1U << best);
    return static_cast<rndv_method>(best);
}

void rate_book::end_trial(size_class& here) noexcept {
    here.known |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(here.tried));
    here.next_trial = here.chosen + trial_share * here.trial;
    here.trial = 0;
}

double rate_book::observe(rndv_method how, std::size_t length, ucs::time::nanoseconds began,
                          ucs::time::nanoseconds ended) noexcept {
    const bool was_idle = began >= last_end_;
    const double took = ucs::time::to_seconds(ended - std::max(began, last_end_));
    last_end_ = ended;
    if (length == 0) return 0;
    size_class& here = classes_[index(length)];
    double sample = 0;
    if (was_idle && here.current.count > 0) {  // the batch before is whole
        const rndv_method before = here.current.how;
        const double cost = close_batch(here);
        if (before == how) sample = cost;
    }
    const double bytes = static_cast<double>(length);
    if (was_idle && last_begin_ <= began) {
        sample = take_sample(here, how, took / bytes);
    } else {
        // Of those under way when a trial began, the last may end much later.
        if (here.trial > 0 && how != here.tried) return sample * bytes;
        if (how != here.current.how) here.current = {how, !was_idle};
        here.current.seconds += took;
        here.current.bytes += bytes;
        if (++here.current.count == batch_size) sample = close_batch(here);
    }
    return sample * bytes;
}

double rate_book::close_batch(size_class& here) noexcept {
    const batch closed = here.current;
    here.current = {closed.how};
    return closed.mixed ? 0 : take_sample(here, closed.how, closed.seconds / closed.bytes);
}

// Returns it.
double rate_book::take_sample(size_class& here, rndv_method how, double per_byte) noexcept {
    double& known = here.per_byte[static_cast<std::size_t>(how)];
    known = follow(known, per_byte);
    if (here.trial > 0 && how == here.tried) end_trial(here);
    return per_byte;
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
