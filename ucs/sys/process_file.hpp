// Opens anonymous memory files that another process of this host holds open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// The name by which another process finds a memory file (memfd) that its owner keeps open. Process
// ids and descriptors are reused, so they do not identify the file; `tag` does. The owner draws it
// at random, makes it part of the file's name, and sends it only to processes that may map the
// file.
struct process_file {
    std::uint64_t pid = 0;
    std::uint64_t fd = 0;
    std::uint64_t tag = 0;
};

// Returns the name that the owner passes to memfd_create().
[[nodiscard]] std::string tagged_file_name(const char* kind, std::uint64_t tag);

// The opened file, or an empty descriptor and the reason.
struct opened_memory_file {
    unique_fd file;
    std::string reason;
    int error = 0;  // errno of the call that failed; 0 if another rule was broken
};

// Opens such a file, for reading and writing or only for reading. Checks the file before it opens
// it, because opening a pipe or a device has effects. The file must be a memory file of that kind
// and tag, and belong to this process's user or to root; root may open the files of all users. The
// caller must still check its size and its seals. Any thread.
[[nodiscard]] opened_memory_file open_process_file(const process_file& location, const char* kind,
                                                   bool writable);

}  // namespace ucs::sys
