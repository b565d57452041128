#include "tools/vfs/fusermount.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "ucs/descriptor/descriptor_passing.hpp"

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

}  // namespace

bool have_fusermount() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    }
    return false;
}

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

void fusermount_unmount(const std::string& path) {
    (void)run({program, "-u", "-z", "-q", "--", path});
}

}  // namespace tools::vfs
