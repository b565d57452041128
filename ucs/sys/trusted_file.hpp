// Opening files by path where other users may have put something else in their place.
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
    int error = 0;        // errno of the call that failed; 0 when a rule below was broken
    std::string why_not;  // in words, without the path; empty when the file is open

    explicit operator bool() const noexcept { return static_cast<bool>(fd); }
    // Whether there is no such file, which is in order for most files.
    [[nodiscard]] bool is_absent() const noexcept;
};

// Which files may be read by path. Opening never blocks, and only a regular file is taken. A link
// at the end of the path is not followed, unless a rule says so.
enum class file_trust {
    // Looked for by the library itself: it is the user's own or root's, and in a folder of the
    // user's or root's that other users cannot write to. A group with the number of the owner is
    // the owner's private one, unless an access control list names others. For caches and
    // configuration files.
    own,
    // As above, and other users can neither read nor write the file itself. For keys.
    secret,
    // Named by the user or the program for this one use, as the argument of a tool or of a call: a
    // regular file of any owner, also behind a link.
    named_by_caller,
};

// A further owner may be trusted as root is, for files of an installation: that of the library.
[[nodiscard]] opened_file open_for_reading(const std::string& path, file_trust trust,
                                           std::optional<uid_t> installer = std::nullopt);

// Does the same for a file of a folder that the caller has open, and has checked itself. Takes
// `own` and `secret`.
[[nodiscard]] opened_file open_for_reading_in(int folder, const std::string& name,
                                              file_trust trust);

// Opens a file for lines that are appended, and makes it with this mode when it is absent. It must
// be a regular file of the user's own that has no second name, not behind a link; the folder may be
// one that others write to, such as /tmp. "/dev/null" is taken, and "/dev/stdout", "/dev/stderr",
// "/dev/fd/N" and "/proc/self/fd/N" are the descriptors of this process.
[[nodiscard]] opened_file open_for_appending(const std::string& path, unsigned mode = 0644);

// The content of a file up to `limit` bytes. Empty text and errno's value as the second member when
// it cannot be read; EFBIG when it is longer. A text of at most 4096 bytes is in no other memory of
// the process than in the result.
struct file_text {
    std::string text;
    int error = 0;
};
[[nodiscard]] file_text read_whole(const opened_file& file, std::size_t limit);

// Puts a file of the user's own at the path, complete or not at all: the text is written under a
// name that did not exist and renamed. The folder must be of the user's or root's and closed to
// writing by others. Returns why it failed, in words; empty when the file is there.
[[nodiscard]] std::string replace_file(const std::string& path, std::string_view text,
                                       unsigned mode = 0600);

// Writes the text to a file that the user names for this one use, as the output of a tool: it is
// made or truncated, also behind a link, and may be a device or a pipe that is being read. Returns
// why it failed, in words; empty when all is written.
[[nodiscard]] std::string write_named_file(const std::string& path, std::string_view text);

// Makes a folder for the user's own files, with its parent (mode 0700). Errors show when a file is
// opened in it.
void make_own_folder(const std::string& path) noexcept;

}  // namespace ucs::sys
