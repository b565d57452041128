// The secret key that the processes of a job share, and its options.
#pragma once

#include <optional>
#include <string>

#include "ucs/config/option.hpp"
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

// A shorter text could be found by trial.
inline constexpr std::size_t shortest_key_text = 16;

// Parses the text of a key from UCX_JOB_KEY or the key file; ignores blanks around it. Returns
// UCS_ERR_INVALID_PARAM if it is too short.
[[nodiscard]] result<key> parse_job_key(std::string_view text) noexcept;

// Reads a key from a file, which must satisfy ucs::sys::file_trust::secret. Otherwise logs one line
// and returns an error.
[[nodiscard]] result<key> read_job_key(const std::string& path);

// Returns the job key from the options: UCX_JOB_KEY if it is set, otherwise UCX_JOB_KEY_FILE,
// otherwise none. If the key is unusable, or encryption is requested without a key, logs one line
// and returns an error: a program that requested either never runs without it.
[[nodiscard]] result<std::optional<key>> load_job_key(const config::source& from);

}  // namespace ucs::security
