#include "tools/common/start_line.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <new>

namespace tools {
namespace {

// Gives a new file its size. The limit of file sizes is asked first: its signal would end the tool.
bool set_size(int file, std::size_t size) noexcept {
    rlimit largest{};
    if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur < size) return false;
    return ::ftruncate(file, static_cast<off_t>(size)) == 0;
}

}  // namespace

start_line::~start_line() {
    leave();
}

void start_line::leave() noexcept {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(shared));
    if (file_ >= 0) ::close(file_);
    shared_ = nullptr;
    file_ = -1;
}

bool start_line::map(int file) noexcept {
    void* const begin =
        ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (begin == MAP_FAILED) return false;
    shared_ = static_cast<shared*>(begin);
    return true;
}

bool start_line::make(std::uint32_t members, std::uint32_t limit_ms) noexcept {
    std::uint64_t token = 0;
    file_ = ::memfd_create("start line", MFD_CLOEXEC);
    if (file_ < 0 || !set_size(file_, sizeof(shared)) ||
        ::getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token) || !map(file_)) {
        leave();
        return false;
    }
    new (shared_) shared{{members}, {0}, {0}, members, limit_ms, token};
    where_ = {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(file_), token};
    return true;
}

// The number of the process may be that of another one here: the token tells.
bool start_line::join(const address& of) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%llu/fd/%llu",
                  static_cast<unsigned long long>(of.process),
                  static_cast<unsigned long long>(of.file));
    struct stat about {};
    file_ = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    const bool fits = file_ >= 0 && ::fstat(file_, &about) == 0 && S_ISREG(about.st_mode) &&
                      about.st_size == static_cast<off_t>(sizeof(shared)) && map(file_);
    if (!fits || shared_->token != of.token) {
        leave();
        return false;
    }
    where_ = of;
    return true;
}

bool start_line::waits_on(std::uint64_t since) noexcept {
    const std::uint64_t limit_ns = std::uint64_t{shared_->limit_ms} * 1'000'000;
    if (monotonic_ns() - since > limit_ns) shared_->given_up.store(1, std::memory_order_relaxed);
    return shared_->given_up.load(std::memory_order_relaxed) == 0;
}

}  // namespace tools
