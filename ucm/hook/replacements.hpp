// The functions that take the place of the C library's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

enum class function : std::uint8_t {
    mmap,
    munmap,
    mremap,
    madvise,
    brk,
    sbrk,
    shmat,
    shmdt,
    syscall
};
inline constexpr std::size_t function_count = 9;

// What to jump to in place of `which`. Null for `syscall` where the processor is not known.
[[nodiscard]] const void* replacement_of(function which) noexcept;

// From now on the replacement of `which` calls `original`, another library's replacement that was
// there before, and not the kernel.
void chain(function which, const void* original) noexcept;

}  // namespace ucm::hook
