// Mounts folders whose files another process serves, as root or by fusermount3.
#pragma once

#include <string>
#include <vector>

#include "ucs/type/unique_fd.hpp"

namespace tools::vfs {

// Returns the reason why processes of this installation cannot load the module, or an empty text.
// They look for it in UCX_MODULE_DIR, or in hawser/ beside the library.
[[nodiscard]] std::string why_no_module();

// The folder of all mounts. It belongs to this user, and is locked during the lifetime of this
// object. The constructor removes the leftovers of a killed daemon. Throws failure.
class mount_folder {
public:
    mount_folder(const std::string& path, std::string mount_options);
    ~mount_folder();
    mount_folder(const mount_folder&) = delete;
    mount_folder& operator=(const mount_folder&) = delete;

    // Mounts at PATH/name, and returns the descriptor of /dev/fuse for the serving process. While a
    // process holds it open, readers wait for a reply. If it is empty, `reason` explains why.
    [[nodiscard]] ucs::unique_fd mount(const std::string& name, std::string& reason);
    void unmount(const std::string& name);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void remove_leftovers();

    std::string path_;
    const std::string options_;
    ucs::unique_fd lock_;
    bool made_ = false;
};

// Returns the mount points of this type below a folder. `mountinfo`: the text of
// /proc/self/mountinfo.
[[nodiscard]] std::vector<std::string> mounts_below(const std::string& folder,
                                                    const std::string& mountinfo);

// The options of -o, split into flags of mount(2) and options of FUSE.
struct split_options {
    unsigned long flags = 0;
    std::string data;
};
[[nodiscard]] split_options split_mount_options(const std::string& text);

// Returns the reason why FUSE cannot be used here and what to do, or an empty text.
[[nodiscard]] std::string why_no_fuse();

}  // namespace tools::vfs
