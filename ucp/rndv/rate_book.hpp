// What moving data in each way has been observed to cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ucp {

// How the data of an announced message can be moved; the receiver chooses.
enum class rndv_method : std::uint8_t {
    read,    // the receiver reads the sender's memory
    split,   // the receiver reads one half, the sender writes the other at the same time
    stream,  // the sender streams it through the transport
};
inline constexpr std::size_t rndv_method_count = 3;

// Predicted costs decide first, observed ones as soon as there are some: how fast two processors
// exchange cache lines differs between placements on the same machine, so no table made
// beforehand is right for long. Kept per power of two of the message size. One per worker; owner
// context.
class rate_book {
public:
    using seconds = std::array<double, rndv_method_count>;  // by method; negative: not possible

    // The cheapest possible method. Now and then another one that is not hopeless, so that the
    // figures stay true.
    [[nodiscard]] rndv_method choose(std::size_t length, const seconds& predicted) noexcept;

    void observe(rndv_method how, std::size_t length, double took) noexcept;

    // Seconds observed for such a message, 0 when there is no observation yet.
    [[nodiscard]] double observed(rndv_method how, std::size_t length) const noexcept;

private:
    struct size_class {
        seconds per_byte{};  // 0: not observed
        std::uint32_t chosen = 0;
    };
    static constexpr std::size_t class_count = 48;
    static std::size_t index(std::size_t length) noexcept;

    std::array<size_class, class_count> classes_{};
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
