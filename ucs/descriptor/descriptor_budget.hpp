// The budget of descriptors: the library leaves a part of the limit (RLIMIT_NOFILE) to the program.
#pragma once

#include <cstdint>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// Returns how many descriptors of `limit` the library leaves to the program: a tenth, at least 64,
// but at most half, so that a small limit serves both.
[[nodiscard]] constexpr std::uint64_t descriptor_reserve(std::uint64_t limit) noexcept {
    constexpr std::uint64_t least = 64;
    const std::uint64_t reserve = limit / 10 > least ? limit / 10 : least;
    return reserve < limit / 2 ? reserve : limit / 2;
}

// The library passes every descriptor that it opens through this function. Returns the descriptor,
// unless its number lies in the reserve: then closes it and returns an empty one with errno set to
// EMFILE, as if the limit were reached. An empty descriptor stays empty, with errno unchanged. The
// kernel assigns the lowest free number, so a number in the reserve means that less than the
// reserve is left; the library need not count. The first failure logs one warning with the limit.
// Any thread.
[[nodiscard]] unique_fd within_budget(unique_fd opened) noexcept;

// Returns whether one more descriptor would be within the budget; sets errno to EMFILE if not. For
// calls of libraries that open descriptors themselves. Any thread.
[[nodiscard]] bool has_descriptor_left() noexcept;

// Returns whether at least five sixths of the budget are in use, or were within the last second
// (that is three quarters of a limit that is not small). The caller then closes connections that
// peers keep open and the program does not need, before the budget is used up. Any thread.
[[nodiscard]] bool are_descriptors_scarce() noexcept;

// Calls accept4() on a non-blocking listener. While the budget is used up, it leaves connections in
// the queue, so that their peers wait, and sets errno to EMFILE. Any thread.
[[nodiscard]] unique_fd accept_within_budget(int listener) noexcept;

}  // namespace ucs::sys
