// Observed costs of the methods that move the data of a rendezvous.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucp/core/slots.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

// The method that moves the data of a rendezvous; the receiver chooses it.
enum class rndv_method : std::uint8_t {
    read,    // the receiver reads the sender's memory
    split,   // the receiver reads one half, the sender writes the other at the same time
    write,   // the sender's device writes to the receiver's memory
    stream,  // the sender streams it through the transport
};
inline constexpr std::size_t rndv_method_count = 4;

// Predicted costs decide first, and observed ones as soon as there are some: how fast two
// processors exchange cache lines differs between placements on the same machine, so no table made
// beforehand stays right. Costs are kept per power of two of the message size.
//
// Many transfers may run at the same time, and each then waits for those before it. The cost of a
// transfer is the time that it adds: the time since the previous one ended. A transfer that ran
// alone is a sample. The average over a batch of overlapping transfers is a sample as well, because
// several ends are noticed at once. One per worker; owner context.
class rate_history {
public:
    using seconds = std::array<double, rndv_method_count>;  // by method; negative: not possible

    // Chooses the cheapest possible method. Now and then it chooses another one that is not much
    // slower, for as many messages as a sample needs, so that the figures stay true. `preparation`:
    // costs of this message before its transfer, which neither the prediction nor the observations
    // include.
    [[nodiscard]] rndv_method choose(std::size_t length, const seconds& predicted,
                                     const seconds& preparation = {}) noexcept;

    // `begin`: a transfer begins. `observe`: one that began at `began` has ended without error;
    // returns the seconds that such a message costs when a sample is complete, otherwise 0.
    void begin(ucs::time::nanoseconds now) noexcept { last_begin_ = now; }
    double observe(rndv_method method, std::size_t length, ucs::time::nanoseconds began,
                   ucs::time::nanoseconds ended) noexcept;

    // Returns the seconds observed for such a message, 0 without an observation.
    [[nodiscard]] double observed(rndv_method method, std::size_t length) const noexcept;

private:
    // Overlapping transfers of one method.
    struct batch {
        rndv_method method = rndv_method::read;
        bool mixed = false;  // began among transfers of another method: not reliable
        std::uint32_t count = 0;
        double seconds = 0;
        double bytes = 0;
    };
    struct size_class {
        seconds per_byte{};  // 0: not observed
        batch current;
        rndv_method tried = rndv_method::read;
        std::uint8_t known = 0;   // methods that were tried, as a bit mask
        std::uint32_t trial = 0;  // messages of the current trial; 0: no trial
        std::uint32_t chosen = 0;
        std::uint32_t next_trial = 0;  // value of `chosen` at which the next trial is due
    };
    static constexpr std::size_t class_count = 48;
    static std::size_t index(std::size_t length) noexcept;
    static bool is_worth_a_try(const size_class& entry, std::size_t method, bool too_slow) noexcept;
    static void end_trial(size_class& entry) noexcept;
    static double close_batch(size_class& entry) noexcept;
    static double take_sample(size_class& entry, rndv_method method, double per_byte) noexcept;

    std::array<size_class, class_count> classes_{};
    ucs::time::nanoseconds last_begin_ = 0;
    ucs::time::nanoseconds last_end_ = 0;
};

// Slot of a worker: rates of transfers by devices, which access memory by keys, and of all others.
struct rndv_rates {
    explicit rndv_rates(worker&) noexcept {}

    [[nodiscard]] rate_history& of(bool keyed) noexcept { return keyed ? by_keys : others; }

    rate_history by_keys;
    rate_history others;
};

}  // namespace ucp
