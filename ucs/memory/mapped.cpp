#include "ucs/memory/mapped.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/file_size.hpp"

namespace ucs::memory {
namespace {

constinit log::component self{"ucs.memory"};

// Returns 0 if rounding up overflows.
std::size_t whole_pages(std::size_t size) noexcept {
    const std::size_t page = page_size();
    return (size + page - 1) / page * page;
}

ucs_status_t status_of(int error) noexcept {
    switch (error) {
        case ENOMEM:
        case ENOSPC:
            return UCS_ERR_NO_MEMORY;
        case EMFILE:
        case ENFILE:
        case EFBIG:
            return UCS_ERR_EXCEEDS_LIMIT;
        case ENOSYS:
            return UCS_ERR_UNSUPPORTED;
        default:
            return UCS_ERR_IO_ERROR;
    }
}

}  // namespace

std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

result<mapped> mapped::map(std::size_t size, int protection, int flags, int fd) {
    const std::size_t length = whole_pages(size);
    if (length < size || length == 0) {
        log::error(self, "cannot map {} bytes: not a possible size", size);
        return UCS_ERR_INVALID_PARAM;
    }
    void* address = ::mmap(nullptr, length, protection, flags, fd, 0);
    if (address == MAP_FAILED) {
        const int error = errno;
        log::error(self, "mmap({} bytes, fd {}) failed: {}", length, fd, std::strerror(error));
        return status_of(error);
    }
    return mapped(address, length);
}

result<mapped> mapped::anonymous(std::size_t size) {
    return map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

result<mapped> mapped::file(int fd, std::size_t size, access rights) {
    const int write = rights == access::read_write ? PROT_WRITE : 0;
    return map(size, PROT_READ | write, MAP_SHARED, fd);
}

void mapped::reset() noexcept {
    if (address_ != nullptr) (void)::munmap(address_, size_);
    address_ = nullptr;
    size_ = 0;
}

result<unique_fd> make_memory_file(const char* name, std::size_t size) {
    unique_fd fd =
        sys::within_budget(unique_fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    const std::size_t length = whole_pages(size);
    const char* call = "memfd_create";
    bool done = static_cast<bool>(fd);
    if (done) {
        call = "ftruncate";
        done = sys::extend_file(fd.get(), length);
    }
    if (done) {
        call = "fcntl(F_ADD_SEALS)";
        done = ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    }
    if (!done) {
        const int error = errno;
        log::error(self, "{} failed for memory file \"{}\" of {} bytes: {}", call, name, length,
                   std::strerror(error));
        return status_of(error);
    }
    return fd;
}

result<std::size_t> check_memory_file(int fd, std::size_t least) {
    struct stat info {};
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(fd, &info) != 0) {
        log::error(self, "fd {} is not a memory file that is sealed against shrinking", fd);
        return UCS_ERR_INVALID_PARAM;
    }
    struct statfs system {};
    if (::fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC) {
        log::error(self, "memory file fd {} has no ordinary pages", fd);
        return UCS_ERR_INVALID_PARAM;
    }
    const auto size = static_cast<std::size_t>(info.st_size);
    if (size < least) {
        log::error(self, "memory file fd {} has {} bytes and needs {}", fd, size, least);
        return UCS_ERR_INVALID_PARAM;
    }
    return size;
}

}  // namespace ucs::memory
