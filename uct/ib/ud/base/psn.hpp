// Packet numbers.
#pragma once

#include <compare>
#include <cstdint>

namespace uct::ud {

// A number of 32 bits that wraps. Two of them compare by their distance, so numbers that are in use
// at a time must lie within half of the circle. Value type.
class psn {
public:
    constexpr psn() noexcept = default;
    constexpr explicit psn(std::uint32_t value) noexcept : value_(value) {}

    [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }

    constexpr psn& operator++() noexcept {
        ++value_;
        return *this;
    }
    [[nodiscard]] friend constexpr psn operator+(psn of, std::uint32_t count) noexcept {
        return psn(of.value_ + count);
    }
    // How many numbers `a` is ahead; negative: behind.
    [[nodiscard]] friend constexpr std::int32_t operator-(psn a, psn b) noexcept {
        return static_cast<std::int32_t>(a.value_ - b.value_);
    }
    friend constexpr bool operator==(psn, psn) noexcept = default;
    // Not an order of all numbers: of half of the circle only.
    friend constexpr std::strong_ordering operator<=>(psn a, psn b) noexcept { return a - b <=> 0; }

private:
    std::uint32_t value_ = 0;
};

}  // namespace uct::ud
