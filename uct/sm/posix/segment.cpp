#include "uct/sm/posix/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "uct/sm/posix/log.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

namespace uct::posix {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr long tmpfs_magic = 0x01021994;

std::byte* map(int fd, std::size_t size) noexcept {
    void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

std::string why_not_attach(int fd, std::size_t size) {
    struct stat info {};
    struct statfs system {};
    if (::fstat(fd, &info) != 0) return fmt::format("fstat failed: {}", std::strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size < 0 ||
        static_cast<std::size_t>(info.st_size) != size) {
        return fmt::format("its segment has {} bytes instead of {}", info.st_size, size);
    }
    const int seals = ::fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & size_seals) != size_seals) {
        return "its segment is not sealed against resizing";
    }
    // Huge pages can run out on first touch, which would raise SIGBUS here.
    if (::fstatfs(fd, &system) != 0 || system.f_type != tmpfs_magic) {
        return "its segment is not ordinary memory";
    }
    return {};
}

}  // namespace

segment::~segment() {
    if (base_ != nullptr) ::munmap(base_, size_);
}

ucs_status_t status_of_errno(int error) noexcept {
    switch (error) {
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS:
        case ENOSPC:
            return UCS_ERR_NO_MEMORY;
        case ECONNREFUSED:
        case ECONNRESET:
        case EPIPE:
        case ENOTCONN:
            return UCS_ERR_CONNECTION_RESET;
        default:
            return UCS_ERR_IO_ERROR;
    }
}

ucs::unique_fd make_memfd() noexcept {
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = ::memfd_create("hawser-posix", flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) fd = ::memfd_create("hawser-posix", flags);  // before Linux 6.3
    return ucs::unique_fd{fd};
}

ucs::result<segment::created> segment::create(std::size_t size) {
    const char* call = "memfd_create";
    ucs::unique_fd fd = make_memfd();
    std::byte* base = nullptr;
    if (fd) {
        call = "ftruncate";
        if (::ftruncate(fd.get(), static_cast<off_t>(size)) == 0) {
            call = "fcntl(F_ADD_SEALS)";
            if (::fcntl(fd.get(), F_ADD_SEALS, size_seals | F_SEAL_SEAL) == 0) {
                call = "mmap";
                base = map(fd.get(), size);
            }
        }
    }
    if (base == nullptr) {
        const int error = errno;
        ucs::log::error(posix_log, "no segment of {} bytes: {} failed: {}", size, call,
                        std::strerror(error));
        return status_of_errno(error);
    }
    return created{segment{base, size}, std::move(fd)};
}

segment::attached segment::attach(int fd, std::size_t size) {
    std::string why_not = why_not_attach(fd, size);
    if (!why_not.empty()) return {{}, std::move(why_not)};
    std::byte* base = map(fd, size);
    if (base == nullptr) return {{}, fmt::format("mmap failed: {}", std::strerror(errno))};
    return {segment{base, size}, {}};
}

}  // namespace uct::posix
