#include "tools/vfs/mounts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <utility>

#include "tools/common/failure.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/sys/module.hpp"
#include "ucs/vfs/fuse_module.hpp"

namespace tools::vfs {
namespace {

// Returns the module folder of this installation, which has bin/ and lib/ side by side.
std::string module_folder() {
    const char* const chosen = std::getenv("UCX_MODULE_DIR");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    char program[PATH_MAX];
    if (::realpath("/proc/self/exe", program) == nullptr) return {};
    const std::string path = program;
    return path.substr(0, path.rfind('/')) + "/../lib/hawser";
}

}  // namespace

std::string why_no_module() {
    std::string reason;
    const auto* const module =
        ucs::sys::load_module("fuse", module_folder(), ucs::vfs::fuse_module::expected(), reason);
    if (module != nullptr) return {};
    return fmt::format(
        "no process can be shown: {}; build with libfuse3 (contrib/install-packages vfs, then "
        "configure and build again), or say where it is by UCX_MODULE_DIR",
        reason);
}

}  // namespace tools::vfs

extern char** environ;

namespace tools::vfs {
namespace {

constexpr const char* program = "fusermount3";

// Waits for the child and returns its exit status, or -1. Kills a child that hangs, for example in
// a file system that does not respond. Returns if even that does not end it.
int wait_for(pid_t child) {
    using clock = std::chrono::steady_clock;
    constexpr auto longest_run = std::chrono::seconds(20);
    constexpr auto longest_kill = std::chrono::seconds(1);
    constexpr int pause_ms = 2;
    const auto start = clock::now();
    bool killed = false;
    for (;;) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        const auto passed = clock::now() - start;
        if (passed > longest_run + longest_kill) return -1;
        if (passed > longest_run && !std::exchange(killed, true)) ::kill(child, SIGKILL);
        (void)::poll(nullptr, 0, pause_ms);
    }
}

// Runs fusermount3 and returns its exit status, or -1. `channel`, unless -1, becomes the child's
// _FUSE_COMMFD.
int run(const std::vector<std::string>& words, int channel = -1) {
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string channel_variable = fmt::format("_FUSE_COMMFD={}", channel);
    std::vector<char*> variables;
    if (channel >= 0) variables.push_back(const_cast<char*>(channel_variable.c_str()));
    for (char** each = environ; *each != nullptr; ++each)
        variables.push_back(*each);
    variables.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawnp(&child, program, nullptr, nullptr, arguments.data(), variables.data()) !=
        0) {
        return -1;
    }
    return wait_for(child);
}

ucs::unique_fd receive_descriptor(int channel) {
    char byte = 0;
    return ucs::sys::receive_with_descriptor(channel, std::as_writable_bytes(std::span(&byte, 1)))
        .descriptor;
}

bool have_fusermount() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    }
    return false;
}

// Mounts and returns the descriptor of /dev/fuse, or an empty one and the reason.
ucs::unique_fd fusermount(const std::string& path, const std::string& options,
                          std::string& reason) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        reason = fmt::format("socketpair() failed: {}", std::strerror(errno));
        return {};
    }
    const ucs::unique_fd own_end(ends[0]);
    const ucs::unique_fd child_end(ends[1]);
    std::string all = "nosuid,nodev,fsname=ucx_vfs,subtype=ucx_vfs";
    if (!options.empty()) all += "," + options;
    const int status = run({program, "-o", all, "--", path}, child_end.get());
    ucs::unique_fd device = status == 0 ? receive_descriptor(own_end.get()) : ucs::unique_fd();
    if (!device) reason = fmt::format("fusermount3 did not mount {}, see its message", path);
    return device;
}

constexpr const char* file_system_type = "fuse.ucx_vfs";

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

ucs::unique_fd mount_as_root(const std::string& path, const std::string& options,
                             std::string& reason) {
    ucs::unique_fd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!device) {
        reason = why_no_fuse();
        return {};
    }
    const split_options split = split_mount_options(options);
    std::string data = fmt::format("fd={},rootmode=40000,user_id=0,group_id=0", device.get());
    if (!split.data.empty()) data += "," + split.data;
    if (::mount("ucx_vfs", path.c_str(), file_system_type, split.flags | MS_NOSUID | MS_NODEV,
                data.c_str()) == 0) {
        return device;
    }
    const int error = errno;
    reason = fmt::format("mount({}) failed: {}{}", path, std::strerror(error),
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
                std::strerror(error));
        }
        return fmt::format(
            "/dev/fuse cannot be opened: {}; it must be readable and writable for "
            "this user, and a container must be given it (--device /dev/fuse)",
            std::strerror(error));
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
                        path, std::strerror(error)));
    }
    // Lock the folder, so that other processes do not change its content during a mount.
    lock_ = ucs::unique_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    struct stat about {};
    if (!lock_ || ::fstat(lock_.get(), &about) != 0) {
        throw failure(fmt::format("{} is not a folder that can be used: {}; name another with -d",
                                  path, std::strerror(errno)));
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
        reason = fmt::format("mkdir({}) failed: {}", path, std::strerror(errno));
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
        (void)run({program, "-u", "-z", "-q", "--", path});
    }
    ::rmdir(path.c_str());
}

}  // namespace tools::vfs
