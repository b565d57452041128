// What moving data in each way has been observed to cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucs/time/clock.hpp"

namespace ucp {

// How the data of an announced message can be moved; the receiver chooses.
enum class rndv_method : std::uint8_t {
    read,    // the receiver reads the sender's memory
    split,   // the receiver reads one half, the sender writes the other at the same time
    write,   // the sender's device writes to the receiver's memory
    stream,  // the sender streams it through the transport
};
inline constexpr std::size_t rndv_method_count = 4;

// Predicted costs decide first, observed ones as soon as there are some: how fast two processors
// exchange cache lines differs between placements on the same machine, so no table made
// beforehand is right for long. Kept per power of two of the message size.
//
// Many transfers may run at the same time, and each then waits for those before it. What counts is
// what one adds: the time since the one before ended. One that ran alone is a sample; of others,
// the average over a batch is, because their ends are found several at once. One per worker; owner
// context.
class rate_book {
public:
    using seconds = std::array<double, rndv_method_count>;  // by method; negative: not possible

    // The cheapest possible method. Now and then another one that is not hopeless, for as many
    // messages as make a sample, so that the figures stay true. `beside`: what this message costs
    // before its transfer, which neither the prediction nor what was observed has in it.
    [[nodiscard]] rndv_method choose(std::size_t length, const seconds& predicted,
                                     const seconds& beside = {}) noexcept;

    // A transfer begins, and one that began then has ended well. The latter returns how many
    // seconds such a message costs when a sample is complete, else 0.
    void begin(ucs::time::nanoseconds now) noexcept { last_begin_ = now; }
    double observe(rndv_method how, std::size_t length, ucs::time::nanoseconds began,
                   ucs::time::nanoseconds ended) noexcept;

    // Seconds observed for such a message, 0 when there is no observation yet.
    [[nodiscard]] double observed(rndv_method how, std::size_t length) const noexcept;

private:
    // Transfers of one method that overlapped.
    struct batch {
        rndv_method how = rndv_method::read;
        bool mixed = false;  // began among those of another method: not to be trusted
        std::uint32_t count = 0;
        double seconds = 0;
        double bytes = 0;
    };
    struct size_class {
        seconds per_byte{};  // 0: not observed
        batch current;
        rndv_method tried = rndv_method::read;
        std::uint8_t known = 0;   // methods that were tried, as bits
        std::uint32_t trial = 0;  // messages of the one under way; 0: there is none
        std::uint32_t chosen = 0;
        std::uint32_t next_trial = 0;  // when so many were chosen
    };
    static constexpr std::size_t class_count = 48;
    static std::size_t index(std::size_t length) noexcept;
    static bool is_worth_a_try(const size_class& here, std::size_t method, bool too_slow) noexcept;
    static void end_trial(size_class& here) noexcept;
    static double close_batch(size_class& here) noexcept;
    static double take_sample(size_class& here, rndv_method how, double per_byte) noexcept;

    std::array<size_class, class_count> classes_{};
    ucs::time::nanoseconds last_begin_ = 0;
    ucs::time::nanoseconds last_end_ = 0;
};

// Bytes per second of data that flows through the transport while both sides copy. Starts with a
// guess, follows what is observed. One per worker; owner context.
class stream_rate {
public:
    explicit stream_rate(double guess) noexcept : used_(guess), current_(guess) {}

    void observe(std::size_t length, double took) noexcept;

    // Whether predictions made with used() have become wrong; adopt() makes the observed rate the
    // one in use.
    [[nodiscard]] bool outdated() const noexcept;
    void adopt() noexcept { used_ = current_; }
    [[nodiscard]] double used() const noexcept { return used_; }

private:
    double used_;
    double current_;
    std::uint32_t count_ = 0;
};

}  // namespace ucp
