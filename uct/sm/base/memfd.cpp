#include "uct/sm/base/memfd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/sys/file_size.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

namespace uct::sm {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr long tmpfs_magic = 0x01021994;

}  // namespace

ucs::unique_fd make_memfd(const char* name) noexcept {
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = ::memfd_create(name, flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, flags);  // before Linux 6.3
    return ucs::sys::within_budget(ucs::unique_fd{fd});
}

const char* size_and_seal(int fd, std::size_t size) noexcept {
    if (!ucs::sys::extend_file(fd, size)) return "ftruncate";
    if (::fcntl(fd, F_ADD_SEALS, size_seals | F_SEAL_SEAL) != 0) return "fcntl(F_ADD_SEALS)";
    return nullptr;
}

std::string why_not_memory(int fd, std::size_t size) {
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
    // Huge pages can run out on first access, which would raise SIGBUS here.
    if (::fstatfs(fd, &system) != 0 || system.f_type != tmpfs_magic) {
        return "its segment is not ordinary memory";
    }
    return {};
}

ucs_status_t status_of_errno(int error) noexcept {
    switch (error) {
        case EMFILE:
        case ENFILE:
        case EFBIG:
            return UCS_ERR_EXCEEDS_LIMIT;
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

}  // namespace uct::sm
