// Making files longer under the limit of file sizes (RLIMIT_FSIZE), whose default is a signal that
// ends the process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ucs::sys {

// Why a file of this size cannot be made, in words: the limit is below it. Empty when it can.
[[nodiscard]] std::string why_too_large(std::uint64_t size);

// ftruncate() to a larger size, which a limit refuses with EFBIG and without SIGXFSZ. Memory files
// are under this limit, too. False, with errno set.
[[nodiscard]] bool extend_file(int fd, std::size_t size) noexcept;

// write(2) that fails with EFBIG, without SIGXFSZ, where the limit leaves no room. Any thread.
[[nodiscard]] ssize_t write_within_limit(int fd, std::string_view bytes) noexcept;

}  // namespace ucs::sys
