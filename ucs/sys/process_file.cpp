#include "ucs/sys/process_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

namespace ucs::sys {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();

std::string own_path(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

// The kernel shows a memory file under this path, which no other file has: nobody can make a file
// whose own path ends in " (deleted)" and begins with "/memfd:" but root.
bool is_named(int fd, const std::string& name) {
    const std::string wanted = "/memfd:" + name + " (deleted)";
    std::array<char, 256> found{};
    const ssize_t length = ::readlink(own_path(fd).c_str(), found.data(), found.size());
    return length >= 0 &&
           std::string_view(found.data(), static_cast<std::size_t>(length)) == wanted;
}

opened_memory_file cannot_open(const std::string& which) {
    const int error = errno;
    return {{}, fmt::format("{} cannot be opened: {}", which, std::strerror(error)), error};
}

bool belongs_to_a_stranger(const struct stat& file) {
    const uid_t own = ::geteuid();
    return own != 0 && file.st_uid != own && file.st_uid != 0;
}

}  // namespace

std::string tagged_file_name(const char* kind, std::uint64_t tag) {
    return fmt::format("{}-{:016x}", kind, tag);
}

opened_memory_file open_process_file(const process_file& wanted, const char* kind, bool writable) {
    if (wanted.pid == 0 || wanted.pid > most || wanted.fd > most) {
        return {{}, "its name is malformed", 0};
    }
    const std::string which = fmt::format("descriptor {} of process {}", wanted.fd, wanted.pid);
    const std::string path = fmt::format("/proc/{}/fd/{}", wanted.pid, wanted.fd);
    // A descriptor that only names the file: nothing of the file is touched by that.
    const unique_fd named{::open(path.c_str(), O_PATH | O_CLOEXEC)};
    if (!named) return cannot_open(which);
    struct stat found {};
    if (::fstat(named.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
        !is_named(named.get(), tagged_file_name(kind, wanted.tag))) {
        return {{}, fmt::format("{} is another file now", which), 0};
    }
    if (belongs_to_a_stranger(found)) {
        return {{}, fmt::format("{} belongs to user {}", which, found.st_uid), 0};
    }
    unique_fd file{::open(own_path(named.get()).c_str(),
                          (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC)};
    if (!file) return cannot_open(which);
    return {std::move(file), {}, 0};
}

}  // namespace ucs::sys
