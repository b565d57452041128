// Packet sequence numbers.
#pragma once

#include <compare>
#include <cstdint>

namespace uct::ud {

// A 32-bit number that wraps around. Two numbers compare by their distance, so the numbers in use
// at one time must lie within half of the range. Value type.
class psn {
public:
    constexpr psn() noexcept = default;
    constexpr explicit psn(std::uint32_t value) noexcept : value_(value) {}

    [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }

    constexpr psn& operator++() noexcept {
        ++value_;
        return *this;
    }
    [[nodiscard]] friend constexpr psn operator+(psn number, std::uint32_t count) noexcept {
        return psn(number.value_ + count);
    }
    // Returns how far `a` is ahead of `b`; negative if it is behind.
    [[nodiscard]] friend constexpr std::int32_t operator-(psn a, psn b) noexcept {
        return static_cast<std::int32_t>(a.value_ - b.value_);
    }
    friend constexpr bool operator==(psn, psn) noexcept = default;
    // Orders numbers within half of the range only.
    friend constexpr std::strong_ordering operator<=>(psn a, psn b) noexcept { return a - b <=> 0; }

private:
    std::uint32_t value_ = 0;
};

}  // namespace uct::ud
