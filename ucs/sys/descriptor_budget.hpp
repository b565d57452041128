// The part of the limit of descriptors (RLIMIT_NOFILE) that the library leaves to the program.
#pragma once

#include <cstdint>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// The number of descriptors that the library leaves free out of `limit`: a tenth, at least 64, and
// at most half, so that a small limit still serves both.
[[nodiscard]] constexpr std::uint64_t descriptor_reserve(std::uint64_t limit) noexcept {
    constexpr std::uint64_t least = 64;
    const std::uint64_t wanted = limit / 10 > least ? limit / 10 : least;
    return wanted < limit / 2 ? wanted : limit / 2;
}

// Takes every descriptor that the library opens, and gives it back unless it lies in the reserve:
// then it is closed, and the result is empty with errno set to EMFILE, as if the limit were
// reached. An empty descriptor stays empty, with errno as it was. The kernel gives the lowest free
// number, so a number in the reserve says that less than the reserve is left; nothing is counted.
// The first time is one warning in the log, with the limit. Any thread.
[[nodiscard]] unique_fd within_budget(unique_fd opened) noexcept;

// Whether one more descriptor would be within the budget; errno is EMFILE where it is not. For
// libraries that open descriptors themselves. Any thread.
[[nodiscard]] bool has_descriptor_left() noexcept;

// Returns whether five sixths of the budget, or more, are in use, or were within the last second:
// three quarters of a limit that is not small. What peers keep open, and the program does not need,
// is closed then, before the budget is used up. Any thread.
[[nodiscard]] bool are_descriptors_scarce() noexcept;

// accept4() of a non-blocking listener. While the budget is used up a connection is left in the
// queue, so that its peer waits, and errno is EMFILE. Any thread.
[[nodiscard]] unique_fd accept_within_budget(int listener) noexcept;

}  // namespace ucs::sys
