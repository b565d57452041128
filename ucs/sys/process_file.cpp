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

// The kernel shows a memory file under this path, which no other file has: only root can make
// another file whose path begins with "/memfd:" and ends with " (deleted)".
bool is_named(int fd, const std::string& name) {
    const std::string expected = "/memfd:" + name + " (deleted)";
    std::array<char, 256> found{};
    const ssize_t length = ::readlink(own_path(fd).c_str(), found.data(), found.size());
    return length >= 0 &&
           std::string_view(found.data(), static_cast<std::size_t>(length)) == expected;
}

opened_memory_file cannot_open(const std::string& subject) {
    const int error = errno;
    return {{}, fmt::format("{} cannot be opened: {}", subject, std::strerror(error)), error};
}

bool belongs_to_untrusted_user(const struct stat& file) {
    const uid_t own = ::geteuid();
    return own != 0 && file.st_uid != own && file.st_uid != 0;
}

}  // namespace

std::string tagged_file_name(const char* kind, std::uint64_t tag) {
    return fmt::format("{}-{:016x}", kind, tag);
}

opened_memory_file open_process_file(const process_file& location, const char* kind,
                                     bool writable) {
    if (location.pid == 0 || location.pid > most || location.fd > most) {
        return {{}, "its name is malformed", 0};
    }
    const std::string subject =
        fmt::format("descriptor {} of process {}", location.fd, location.pid);
    const std::string path = fmt::format("/proc/{}/fd/{}", location.pid, location.fd);
    // Open with O_PATH, which only refers to the file and has no effect on it.
    const unique_fd named{::open(path.c_str(), O_PATH | O_CLOEXEC)};
    if (!named) return cannot_open(subject);
    struct stat found {};
    if (::fstat(named.get(), &found) != 0 || !S_ISREG(found.st_mode) ||
        !is_named(named.get(), tagged_file_name(kind, location.tag))) {
        return {{}, fmt::format("{} is another file now", subject), 0};
    }
    if (belongs_to_untrusted_user(found)) {
        return {{}, fmt::format("{} belongs to user {}", subject, found.st_uid), 0};
    }
    unique_fd file{::open(own_path(named.get()).c_str(),
                          (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC)};
    if (!file) return cannot_open(subject);
    return {std::move(file), {}, 0};
}

}  // namespace ucs::sys
