// Overflow checks of counts. Counts and types of MPI may need 64 bits, and a call may be wrong: the
// MPI then reports the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ucg::mpi {

// No memory is larger. Sums and differences of two such numbers do not overflow.
inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;

// True if `blocks` times `count` elements of `unit` bytes fit into max_bytes.
template<class Count>
[[nodiscard]] bool fits(Count count, std::uint64_t blocks, std::uint64_t unit) noexcept {
    if (count < 0) return false;
    std::uint64_t bytes = 0;
    return !__builtin_mul_overflow(static_cast<std::uint64_t>(count), blocks, &bytes) &&
           !__builtin_mul_overflow(bytes, unit, &bytes) && bytes <= most_bytes;
}

// The sum of the elements of `n` blocks; nothing if a count is negative or the sum overflows.
template<class Count>
[[nodiscard]] std::optional<std::uint64_t> sum_of(const Count* counts, std::size_t n) noexcept {
    if (counts == nullptr) return std::nullopt;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i)
        if (counts[i] < 0 ||
            __builtin_add_overflow(sum, static_cast<std::uint64_t>(counts[i]), &sum))
            return std::nullopt;
    return sum;
}

// True if blocks that begin `places` elements from the buffer, before or behind it, fit. The place
// of a block without elements may be anything.
template<class Count, class Place>
[[nodiscard]] bool fit(const Count* counts, const Place* places, std::size_t n,
                       std::uint64_t unit) noexcept {
    const auto sum = sum_of(counts, n);
    if (!sum || places == nullptr || !fits(*sum, 1, unit)) return false;
    for (std::size_t i = 0; i < n; ++i) {
        const auto place = static_cast<std::uint64_t>(places[i]);
        std::uint64_t end = places[i] < 0 ? 0 - place : place;
        if (counts[i] != 0 &&
            (__builtin_add_overflow(end, static_cast<std::uint64_t>(counts[i]), &end) ||
             !fits(end, 1, unit)))
            return false;
    }
    return true;
}

}  // namespace ucg::mpi
