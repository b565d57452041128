#include "ucs/log/output.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "ucs/sys/file_size.hpp"
#include "ucs/sys/process.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace ucs::log {
namespace {

// Returns whether rotation may rename the file: not for devices and descriptors.
bool is_rotated(std::string_view path) noexcept {
    return !path.starts_with("/dev/") && !path.starts_with("/proc/");
}

}  // namespace

std::string expand_file_name(std::string_view pattern) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%' || i + 1 == pattern.size()) {
            name += pattern[i];
            continue;
        }
        switch (pattern[++i]) {
            case 'h':
                name += sys::host_name();
                break;
            case 'p':
                name += std::to_string(::getpid());
                break;
            case 'e':
                name += sys::executable_name();
                break;
            case 't':
                name += std::to_string(::time(nullptr));
                break;
            case '%':
                name += '%';
                break;
            default:
                (name += '%') += pattern[i];
        }
    }
    return name;
}

void output::install(int file) noexcept {
    struct stat info {};
    written_ = ::fstat(file, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
    if (own_fd_ < 0) {
        own_fd_ = file;
    } else {
        // Writers that have loaded the number already keep writing to a valid descriptor.
        (void)::dup3(file, own_fd_, O_CLOEXEC);
        ::close(file);
    }
    fd_ = own_fd_;
}

std::string output::open(const std::string& target, std::size_t size_limit, unsigned backups) {
    const std::lock_guard lock(change_);
    limit_ = ~std::size_t{0};
    if (target.empty() || target == "-" || target == "stdout" || target == "stderr") {
        fd_ = target == "-" || target == "stdout" ? STDOUT_FILENO : STDERR_FILENO;
        return {};
    }
    path_ = expand_file_name(target);
    backups_ = backups;
    sys::opened_file file = sys::open_for_appending(path_);
    if (!file) {
        fd_ = STDERR_FILENO;
        return std::move(file.reason);
    }
    install(file.fd.release());
    if (is_rotated(path_)) limit_ = size_limit;
    return {};
}

void output::rotate() noexcept try {
    const std::unique_lock lock(change_, std::try_to_lock);
    if (!lock || written_ < limit_) return;
    if (backups_ == 0) {
        (void)::unlink(path_.c_str());
    } else {
        const auto numbered = [this](unsigned n) { return path_ + "." + std::to_string(n); };
        for (unsigned n = backups_; n > 1; --n) {
            (void)std::rename(numbered(n - 1).c_str(), numbered(n).c_str());
        }
        (void)std::rename(path_.c_str(), numbered(1).c_str());
    }
    sys::opened_file file = sys::open_for_appending(path_);
    if (!file) {
        limit_ = ~std::size_t{0};  // stay in the old file rather than lose lines
        return;
    }
    install(file.fd.release());
} catch (...) {
    // Out of memory: the next line tries again.
}

void output::write(std::string_view line) noexcept {
    const int saved_errno = errno;
    const int fd = fd_.load(std::memory_order_acquire);
    ssize_t count = 0;
    do {
        count = sys::write_within_limit(fd, line);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && fd > STDERR_FILENO) {
        // Write to stderr instead: a full or failing disk must not hide messages.
        count = sys::write_within_limit(STDERR_FILENO, line);
    }
    if (written_.fetch_add(line.size()) + line.size() >= limit_ && fd > STDERR_FILENO) {
        rotate();
    }
    errno = saved_errno;
}

}  // namespace ucs::log
