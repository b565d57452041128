// Opens files by path safely, although other users may have replaced them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// A file that was opened, or the reason that it was not. The caller writes the one log line.
struct opened_file {
    unique_fd fd;
    int error = 0;       // errno of the failed call; 0 if a rule below was broken
    std::string reason;  // without the path; empty if the file is open

    explicit operator bool() const noexcept { return static_cast<bool>(fd); }
    // Returns whether the file does not exist, which is no error for most files.
    [[nodiscard]] bool is_absent() const noexcept;
};

// Which files may be read by path. Opening never blocks, and only regular files are accepted. A
// link at the end of the path is not followed, unless a rule permits it.
enum class file_trust {
    // A file that the library looks for: it must belong to the user or root, in a folder of the
    // user or root to which other users cannot write. A group with the same number as the owner
    // counts as the owner's private group, unless an access control list names others. For caches
    // and configuration files.
    own,
    // As above, and other users must not be able to read or write the file itself. For keys.
    secret,
    // A file that the user or the program names for this one use, in an argument of a tool or of a
    // call: a regular file of any owner, also through a link.
    named_by_caller,
};

// Opens a file for reading. For files of the installation, `installer`, the owner of the library,
// is trusted like root.
[[nodiscard]] opened_file open_for_reading(const std::string& path, file_trust trust,
                                           std::optional<uid_t> installer = std::nullopt);

// Does the same for a file in a folder that the caller has opened and checked. Accepts `own` and
// `secret`.
[[nodiscard]] opened_file open_for_reading_in(int folder, const std::string& name,
                                              file_trust trust);

// Opens a file for appending, and creates it with this mode if it does not exist. It must be a
// regular file of this user without a second name, and not behind a link. Other users may write to
// the folder, such as /tmp. "/dev/null" is accepted, and "/dev/stdout", "/dev/stderr", "/dev/fd/N"
// and "/proc/self/fd/N" mean the descriptors of this process.
[[nodiscard]] opened_file open_for_appending(const std::string& path, unsigned mode = 0644);

// The content of a file of up to `limit` bytes. If it cannot be read, the text is empty and `error`
// is the errno value; EFBIG if the file is longer. The process keeps no second copy of a text of at
// most 4096 bytes.
struct file_text {
    std::string text;
    int error = 0;
};
[[nodiscard]] file_text read_whole(const opened_file& file, std::size_t limit);

// Replaces a file of this user atomically: writes the text under a new name and renames it. The
// folder must belong to the user or root, and other users must not be able to write to it. Returns
// the reason of a failure, or an empty text on success.
[[nodiscard]] std::string replace_file(const std::string& path, std::string_view text,
                                       unsigned mode = 0600);

// Writes the text to a file that the user names for this one use, such as the output of a tool.
// Creates or truncates the file, also through a link; it may be a device or a pipe with a reader.
// Returns the reason of a failure, or an empty text on success.
[[nodiscard]] std::string write_named_file(const std::string& path, std::string_view text);

// Makes a folder for files of this user, with its parent (mode 0700). Ignores errors; opening a
// file in it reports them.
void make_own_folder(const std::string& path) noexcept;

}  // namespace ucs::sys
