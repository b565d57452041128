#include "ucp/rndv/rate_history.hpp"

#include <algorithm>
#include <bit>

namespace ucp {

namespace {

constexpr double weight = 0.25;  // weight of a new observation
constexpr double outlier =
    4;  // times the average; longer samples come from a process that was not scheduled
constexpr double hopeless = 3;                // times the best; slower methods are not tried again
constexpr std::uint32_t first_look = 4;       // messages before unknown methods get a trial
constexpr std::uint32_t trial_share = 64;     // one of so many messages is a trial
constexpr std::uint32_t longest_trial = 256;  // messages of one trial
constexpr std::uint32_t batch_size = 32;      // more than most programs have in flight

double follow(double average, double sample) noexcept {
    if (average <= 0) return sample;
    return average + weight * (std::min(sample, average * outlier) - average);
}

}  // namespace

std::size_t rate_history::index(std::size_t length) noexcept {
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(length)), class_count - 1);
}

double rate_history::observed(rndv_method method, std::size_t length) const noexcept {
    const double per_byte = classes_[index(length)].per_byte[static_cast<std::size_t>(method)];
    return per_byte * static_cast<double>(length);
}

bool rate_history::is_worth_a_try(const size_class& entry, std::size_t method,
                                  bool too_slow) noexcept {
    if (too_slow || entry.chosen < first_look) return false;
    // The counters wrap.
    const bool its_time = static_cast<std::int32_t>(entry.chosen - entry.next_trial) >= 0;
    return (entry.known & (1U << method)) == 0 || its_time;
}

rndv_method rate_history::choose(std::size_t length, const seconds& predicted,
                                 const seconds& preparation) noexcept {
    size_class& entry = classes_[index(length)];
    seconds cost = predicted;
    std::size_t best = rndv_method_count;
    for (std::size_t i = 0; i < rndv_method_count; ++i) {
        if (predicted[i] < 0) continue;
        if (entry.per_byte[i] > 0) cost[i] = entry.per_byte[i] * static_cast<double>(length);
        cost[i] += preparation[i];
        if (best == rndv_method_count || cost[i] < cost[best]) best = i;
    }
    ++entry.chosen;
    if (entry.trial > 0) {
        if (predicted[static_cast<std::size_t>(entry.tried)] >= 0 && entry.trial < longest_trial) {
            ++entry.trial;
            return entry.tried;
        }
        end_trial(entry);
    }
    // Methods take turns, beginning with the one after the last tried.
    for (std::size_t step = 1; step <= rndv_method_count; ++step) {
        const std::size_t i = (static_cast<std::size_t>(entry.tried) + step) % rndv_method_count;
        if (i == best || predicted[i] < 0) continue;
        if (!is_worth_a_try(entry, i, cost[i] > hopeless * cost[best])) continue;
        entry.tried = static_cast<rndv_method>(i);
        entry.trial = 1;
        return entry.tried;
    }
    entry.known |= static_cast<std::uint8_t>(1U << best);
    return static_cast<rndv_method>(best);
}

void rate_history::end_trial(size_class& entry) noexcept {
    entry.known |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(entry.tried));
    entry.next_trial = entry.chosen + trial_share * entry.trial;
    entry.trial = 0;
}

double rate_history::observe(rndv_method method, std::size_t length, ucs::time::nanoseconds began,
                             ucs::time::nanoseconds ended) noexcept {
    const bool was_idle = began >= last_end_;
    const double took = ucs::time::to_seconds(ended - std::max(began, last_end_));
    last_end_ = ended;
    if (length == 0) return 0;
    size_class& entry = classes_[index(length)];
    double sample = 0;
    if (was_idle && entry.current.count > 0) {  // the previous batch is complete
        const rndv_method before = entry.current.method;
        const double cost = close_batch(entry);
        if (before == method) sample = cost;
    }
    const double bytes = static_cast<double>(length);
    if (was_idle && last_begin_ <= began) {
        sample = take_sample(entry, method, took / bytes);
    } else {
        // Transfers that were in flight when a trial began may end much later.
        if (entry.trial > 0 && method != entry.tried) return sample * bytes;
        if (method != entry.current.method) entry.current = {method, !was_idle};
        entry.current.seconds += took;
        entry.current.bytes += bytes;
        if (++entry.current.count == batch_size) sample = close_batch(entry);
    }
    return sample * bytes;
}

double rate_history::close_batch(size_class& entry) noexcept {
    const batch closed = entry.current;
    entry.current = {closed.method};
    return closed.mixed ? 0 : take_sample(entry, closed.method, closed.seconds / closed.bytes);
}

// Returns the sample.
double rate_history::take_sample(size_class& entry, rndv_method method, double per_byte) noexcept {
    double& known = entry.per_byte[static_cast<std::size_t>(method)];
    known = follow(known, per_byte);
    if (entry.trial > 0 && method == entry.tried) end_trial(entry);
    return per_byte;
}

}  // namespace ucp
