// The key that the processes of one job share, and the options that name it.
#pragma once

#include <optional>
#include <string>

#include "ucs/config/secret_text.hpp"
#include "ucs/config/source.hpp"
#include "ucs/security/key.hpp"
#include "ucs/type/result.hpp"

namespace ucs::security {

struct job_key_settings {
    config::secret_text text;
    std::string file;
    bool tcp_encryption = false;

    static const config::table& options();
};

// A shorter text could be guessed by trying.
inline constexpr std::size_t shortest_key_text = 16;

// The key of a text, as UCX_JOB_KEY and the file have it: blanks around it do not count.
// UCS_ERR_INVALID_PARAM: it is too short.
[[nodiscard]] result<key> parse_job_key(std::string_view text) noexcept;

// Reads a key from a file, which must be of the kind ucs::sys::file_trust::secret; any other is an
// error with one line in the log.
[[nodiscard]] result<key> read_job_key(const std::string& path);

// The job's key as the options have it: UCX_JOB_KEY, else UCX_JOB_KEY_FILE, else none. A key that
// cannot be used is an error with one line in the log, and so is encryption without a key: a
// program that asked for either never runs without.
[[nodiscard]] result<std::optional<key>> load_job_key(const config::source& from);

}  // namespace ucs::security
