// Extends files under the limit of file sizes (RLIMIT_FSIZE) without the signal that would end the
// process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ucs::sys {

// Returns the reason if the limit forbids a file of this size, otherwise an empty text.
[[nodiscard]] std::string why_too_large(std::uint64_t size);

// Extends a file by ftruncate(). Beyond the limit it fails with EFBIG, without SIGXFSZ. The limit
// also applies to memory files. Returns false with errno set on failure.
[[nodiscard]] bool extend_file(int fd, std::size_t size) noexcept;

// Calls write(2). Beyond the limit it fails with EFBIG, without SIGXFSZ. Any thread.
[[nodiscard]] ssize_t write_within_limit(int fd, std::string_view bytes) noexcept;

}  // namespace ucs::sys
