// Functions that replace those of the C library.
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

// Makes the replacement of `id` call `original`, another library's replacement that was installed
// before, instead of the kernel.
void chain(function id, const void* original) noexcept;

}  // namespace ucm::hook
