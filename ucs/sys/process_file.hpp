// Anonymous memory files that another process of this host has open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "ucs/type/unique_fd.hpp"

namespace ucs::sys {

// How a process tells others about a memory file (memfd) that it keeps open. Process ids and
// descriptors are reused, so neither says which file it is: `tag` does. The owner draws it at
// random, makes it part of the file's name, and tells it only to those who may map the file.
struct process_file {
    std::uint64_t pid = 0;
    std::uint64_t fd = 0;
    std::uint64_t tag = 0;
};

// The name that the owner gives to memfd_create().
[[nodiscard]] std::string tagged_file_name(const char* kind, std::uint64_t tag);

// The opened file, or a descriptor of -1 and the reason in words.
struct opened_memory_file {
    unique_fd file;
    std::string why_not;
    int error = 0;  // errno of the call that failed; 0 when another rule was broken
};

// Opens such a file, for reading and writing or for reading alone. Everything about it is checked
// before it is opened, so that no other file is touched: opening a pipe or a device has effects.
// It must be a memory file of that kind and tag, and belong to this process's user or to root;
// root may open everybody's. The caller still has to check its size and its seals. Any thread.
[[nodiscard]] opened_memory_file open_process_file(const process_file& wanted, const char* kind,
                                                   bool writable);

}  // namespace ucs::sys
