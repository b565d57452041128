// Cost of registering memory with a device.
#pragma once

#include <cstddef>
#include <string>

#include "uct/ib/base/device/handle.hpp"

namespace uct::ib {

// Registering and deregistering takes a fixed time plus a time per byte, because pages are pinned.
// Immutable; any thread.
class registration_price {
public:
    constexpr registration_price(double start, double per_byte) noexcept
        : start_(start), per_byte_(per_byte) {}

    // Measures the cost by registering own pages, in a fraction of a millisecond. If that fails,
    // returns usual values. `access`: flags with which all memory of programs is registered.
    [[nodiscard]] static registration_price measured(ibv_pd& with, unsigned access) noexcept;

    // Computes the cost from the seconds of a short and of a long piece.
    [[nodiscard]] static registration_price between(std::size_t short_bytes, double short_seconds,
                                                    std::size_t long_bytes,
                                                    double long_seconds) noexcept;

    // Returns the seconds for so many bytes.
    [[nodiscard]] double of(std::size_t bytes) const noexcept {
        return start_ + per_byte_ * static_cast<double>(bytes);
    }
    [[nodiscard]] std::string text() const;

private:
    double start_;
    double per_byte_;
};

}  // namespace uct::ib
