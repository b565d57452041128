#include "tools/common/start_barrier.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdio>
#include <new>

namespace tools {
namespace {

constexpr long tmpfs_magic = 0x01021994;  // <linux/magic.h>

constexpr int every_seal = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Returns whether make() could have made the file. It must be sealed against shrinking, because an
// access beyond its end would end the process. It must not have huge pages, because a hole in the
// file could not be filled if no huge page is free.
bool is_start_barrier(int file, std::size_t size) noexcept {
    const int seals = ::fcntl(file, F_GET_SEALS);  // -1, which has all bits: not a memory file
    struct stat about {};
    struct statfs system {};
    return seals >= 0 && (seals & every_seal) == every_seal && ::fstatfs(file, &system) == 0 &&
           system.f_type == tmpfs_magic && ::fstat(file, &about) == 0 &&
           about.st_size == static_cast<off_t>(size);
}

// Opens a file that another process has open; returns -1 on failure. Checks the file before it
// opens it, because opening a pipe or a device has effects. Programs without Hawser's libraries use
// this, too, so it does not use ucs/sys/process_file.hpp.
int open_regular_file(const char* path) noexcept {
    const int named = ::open(path, O_PATH | O_CLOEXEC);
    if (named < 0) return -1;
    struct stat about {};
    int file = -1;
    if (::fstat(named, &about) == 0 && S_ISREG(about.st_mode)) {
        char own_path[64];
        std::snprintf(own_path, sizeof own_path, "/proc/self/fd/%d", named);
        file = ::open(own_path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    }
    ::close(named);
    return file;
}

// Sets the size of a new file. Checks the limit of file sizes first, because its signal would end
// the tool.
bool set_size(int file, std::size_t size) noexcept {
    rlimit largest{};
    if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur < size) return false;
    return ::ftruncate(file, static_cast<off_t>(size)) == 0;
}

}  // namespace

start_barrier::~start_barrier() {
    leave();
}

void start_barrier::leave() noexcept {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(shared));
    if (file_ >= 0) ::close(file_);
    shared_ = nullptr;
    file_ = -1;
}

bool start_barrier::map(int file) noexcept {
    void* const begin =
        ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (begin == MAP_FAILED) return false;
    shared_ = static_cast<shared*>(begin);
    return true;
}

bool start_barrier::make(std::uint32_t members, std::uint32_t limit_ms) noexcept {
    std::uint64_t token = 0;
    file_ = ::memfd_create("start barrier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file_ < 0 || !set_size(file_, sizeof(shared)) ||
        ::fcntl(file_, F_ADD_SEALS, every_seal) != 0 ||
        ::getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token) || !map(file_)) {
        leave();
        return false;
    }
    new (shared_) shared{{members}, {0}, {0}, members, limit_ms, token};
    where_ = {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(file_), token};
    return true;
}

// In another pid namespace the process number may mean another process, so the token is checked.
bool start_barrier::join(const address& location) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%llu/fd/%llu",
                  static_cast<unsigned long long>(location.process),
                  static_cast<unsigned long long>(location.file));
    file_ = open_regular_file(path);
    const bool fits = file_ >= 0 && is_start_barrier(file_, sizeof(shared)) && map(file_);
    if (!fits || shared_->token != location.token) {
        leave();
        return false;
    }
    where_ = location;
    return true;
}

bool start_barrier::waits_on(std::uint64_t since) noexcept {
    const std::uint64_t limit_ns = std::uint64_t{shared_->limit_ms} * 1'000'000;
    if (monotonic_ns() - since > limit_ns) shared_->given_up.store(1, std::memory_order_relaxed);
    return shared_->given_up.load(std::memory_order_relaxed) == 0;
}

}  // namespace tools
