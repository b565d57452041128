#include "tools/vfs/mounts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "tools/common/failure.hpp"
#include "tools/vfs/fusermount.hpp"

namespace tools::vfs {
namespace {

constexpr const char* file_system_type = "fuse.ucx_vfs";

const char* error_text(int error) {
    return std::strerror(error);
}

// Decodes escapes: mountinfo writes blanks and similar characters as \040.
std::string without_escapes(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

ucs::unique_fd open_device(std::string& reason) {
    ucs::unique_fd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!device) reason = why_no_fuse();
    return device;
}

ucs::unique_fd mount_as_root(const std::string& path, const std::string& options,
                             std::string& reason) {
    ucs::unique_fd device = open_device(reason);
    if (!device) return {};
    const split_options split = split_mount_options(options);
    std::string data = fmt::format("fd={},rootmode=40000,user_id=0,group_id=0", device.get());
    if (!split.data.empty()) data += "," + split.data;
    if (::mount("ucx_vfs", path.c_str(), file_system_type, split.flags | MS_NOSUID | MS_NODEV,
                data.c_str()) == 0) {
        return device;
    }
    const int error = errno;
    reason = fmt::format("mount({}) failed: {}{}", path, error_text(error),
                         error == EPERM ? "; a container must be given the right to mount "
                                          "(--cap-add SYS_ADMIN --device /dev/fuse)"
                                        : "");
    return {};
}

}  // namespace

std::string why_no_fuse() {
    const ucs::unique_fd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!device) {
        const int error = errno;
        if (error == ENOENT || error == ENODEV || error == ENXIO) {
            return fmt::format(
                "/dev/fuse: {}; load the kernel's module (modprobe fuse), or give it "
                "to the container (--device /dev/fuse --cap-add SYS_ADMIN)",
                error_text(error));
        }
        return fmt::format(
            "/dev/fuse cannot be opened: {}; it must be readable and writable for "
            "this user, and a container must be given it (--device /dev/fuse)",
            error_text(error));
    }
    if (::geteuid() != 0 && !have_fusermount()) {
        return "fusermount3 is not in PATH, and only root mounts without it: install the package "
               "fuse3";
    }
    return {};
}

std::vector<std::string> mounts_below(const std::string& folder, const std::string& mountinfo) {
    std::vector<std::string> found;
    std::istringstream lines(mountinfo);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        std::string point;
        for (int i = 0; i < 5 && words >> point; ++i) {
        }
        while (words >> word && word != "-") {
        }
        std::string type;
        words >> type;
        point = without_escapes(point);
        if (type == file_system_type && point.starts_with(folder + "/")) found.push_back(point);
    }
    return found;
}

split_options split_mount_options(const std::string& text) {
    static constexpr std::pair<const char*, unsigned long> flags[] = {{"ro", MS_RDONLY},
                                                                      {"rw", 0},
                                                                      {"nosuid", MS_NOSUID},
                                                                      {"nodev", MS_NODEV},
                                                                      {"noexec", MS_NOEXEC},
                                                                      {"exec", 0},
                                                                      {"sync", MS_SYNCHRONOUS},
                                                                      {"noatime", MS_NOATIME},
                                                                      {"atime", 0},
                                                                      {"dirsync", MS_DIRSYNC}};
    split_options split;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const auto* known = std::find_if(std::begin(flags), std::end(flags),
                                         [&](const auto& each) { return word == each.first; });
        if (known != std::end(flags)) {
            split.flags |= known->second;
        } else if (!word.empty()) {
            split.data += (split.data.empty() ? "" : ",") + word;
        }
    }
    return split;
}

mount_folder::mount_folder(const std::string& path, std::string mount_options)
    : options_(std::move(mount_options)) {
    if (::mkdir(path.c_str(), 0755) == 0) {
        made_ = true;
    } else if (errno != EEXIST) {
        const int error = errno;
        throw failure(
            fmt::format("the folder {} cannot be made: {}; make it, or name another with "
                        "-d",
                        path, error_text(error)));
    }
    // Lock the folder, so that other processes do not change its content during a mount.
    lock_ = ucs::unique_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    struct stat about {};
    if (!lock_ || ::fstat(lock_.get(), &about) != 0) {
        throw failure(fmt::format("{} is not a folder that can be used: {}; name another with -d",
                                  path, error_text(errno)));
    }
    if (about.st_uid != ::geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        throw failure(
            fmt::format("the folder {} must belong to this user, and other users must "
                        "not be able to write to it; name another with -d",
                        path));
    }
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
        throw failure(
            fmt::format("another ucx_vfs mounts in {}; name another folder with -d", path));
    }
    char real[PATH_MAX];
    path_ = ::realpath(path.c_str(), real) == nullptr ? path : real;
    remove_leftovers();
}

mount_folder::~mount_folder() {
    if (made_) ::rmdir(path_.c_str());  // fails if the folder is not empty
}

void mount_folder::remove_leftovers() {
    std::ifstream file("/proc/self/mountinfo");
    std::ostringstream text;
    text << file.rdbuf();
    for (const std::string& point : mounts_below(path_, text.str()))
        unmount(point.substr(path_.size() + 1));
    // Remove folders whose mount another process has removed.
    struct close_folder {
        void operator()(DIR* open) const noexcept { ::closedir(open); }
    };
    const std::unique_ptr<DIR, close_folder> all(::opendir(path_.c_str()));
    while (const dirent* each = all == nullptr ? nullptr : ::readdir(all.get())) {
        const std::string_view name = each->d_name;
        if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
            ::unlinkat(lock_.get(), each->d_name, AT_REMOVEDIR);
        }
    }
}

ucs::unique_fd mount_folder::mount(const std::string& name, std::string& reason) {
    const std::string path = path_ + "/" + name;
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        reason = fmt::format("mkdir({}) failed: {}", path, error_text(errno));
        return {};
    }
    ucs::unique_fd device = ::geteuid() == 0 ? mount_as_root(path, options_, reason)
                                             : fusermount(path, options_, reason);
    if (!device) ::rmdir(path.c_str());
    return device;
}

void mount_folder::unmount(const std::string& name) {
    const std::string path = path_ + "/" + name;
    // MNT_FORCE ends requests that still wait for a dead process. MNT_DETACH also works while
    // another process uses the mount.
    if (::umount2(path.c_str(), MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && errno == EPERM) {
        fusermount_unmount(path);
    }
    ::rmdir(path.c_str());
}

}  // namespace tools::vfs
