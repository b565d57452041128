// What registering memory with a device costs.
#pragma once

#include <cstddef>
#include <string>

#include "uct/ib/base/handle.hpp"

namespace uct::ib {

// Registering and deregistering takes a start and so much for each byte, because of the pages that
// are pinned. Immutable; any thread.
class registration_price {
public:
    constexpr registration_price(double start, double per_byte) noexcept
        : start_(start), per_byte_(per_byte) {}

    // By registering pages of its own, in a fraction of a millisecond; where that fails a usual
    // figure. `access`: flags that all memory of programs is registered with.
    [[nodiscard]] static registration_price measured(ibv_pd& with, unsigned access) noexcept;

    // From the seconds that a short piece took and those of a long one.
    [[nodiscard]] static registration_price between(std::size_t short_bytes, double short_seconds,
                                                    std::size_t long_bytes,
                                                    double long_seconds) noexcept;

    // Seconds.
    [[nodiscard]] double of(std::size_t bytes) const noexcept {
        return start_ + per_byte_ * static_cast<double>(bytes);
    }
    [[nodiscard]] std::string text() const;

private:
    double start_;
    double per_byte_;
};

}  // namespace uct::ib
