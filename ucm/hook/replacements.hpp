// The functions that replace mmap, munmap and others of the C library, to report memory events.
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

// Returns the jump target that replaces `id`. Returns null for `syscall` if the processor is not
// supported.
[[nodiscard]] const void* replacement_of(function id) noexcept;

// Makes the replacement of `id` call `original` instead of the kernel: the replacement that another
// library has installed before.
void chain(function id, const void* original) noexcept;

}  // namespace ucm::hook
