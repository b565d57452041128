// Mounting for a process that serves the files itself.
#pragma once

#include <string>
#include <vector>

#include "ucs/type/unique_fd.hpp"

namespace tools::vfs {

// The folder of all mounts. Its owner is this user, and nobody else uses it while this object
// lives; what a killed daemon left in it is taken away first. Throws failure.
class mount_folder {
public:
    mount_folder(const std::string& path, std::string mount_options);
    ~mount_folder();
    mount_folder(const mount_folder&) = delete;
    mount_folder& operator=(const mount_folder&) = delete;

    // Mounts at PATH/name. The descriptor is that of /dev/fuse, for who serves: as long as anybody
    // has it open, readers wait for an answer. None: `why_not` says why.
    [[nodiscard]] ucs::unique_fd mount(const std::string& name, std::string& why_not);
    void unmount(const std::string& name);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void remove_leftovers();

    std::string path_;
    const std::string options_;
    ucs::unique_fd lock_;
    bool made_ = false;
};

// Of the text of /proc/self/mountinfo: mount points of our type below a folder.
[[nodiscard]] std::vector<std::string> mounts_below(const std::string& folder,
                                                    const std::string& mountinfo);

// Of `-o`: what mount(2) takes as flags, and the rest, which is for FUSE.
struct split_options {
    unsigned long flags = 0;
    std::string data;
};
[[nodiscard]] split_options split_mount_options(const std::string& text);

// Why FUSE cannot be used here, and what to do; empty: it can.
[[nodiscard]] std::string why_no_fuse();

}  // namespace tools::vfs
