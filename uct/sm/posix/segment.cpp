#include "uct/sm/posix/segment.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "uct/base/log.hpp"

namespace uct::posix {
namespace {

std::byte* map(int fd, std::size_t size) noexcept {
    void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

}  // namespace

segment::~segment() {
    if (base_ != nullptr) ::munmap(base_, size_);
}

ucs::unique_fd make_memfd() noexcept {
    return sm::make_memfd("hawser-posix");
}

ucs::result<segment::created> segment::create(std::size_t size) {
    const char* call = "memfd_create";
    ucs::unique_fd fd = make_memfd();
    std::byte* base = nullptr;
    if (fd) {
        call = sm::size_and_seal(fd.get(), size);
        if (call == nullptr) {
            call = "mmap";
            base = map(fd.get(), size);
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
    std::string reason = sm::why_not_memory(fd, size);
    if (!reason.empty()) return {{}, std::move(reason)};
    std::byte* base = map(fd, size);
    if (base == nullptr) return {{}, fmt::format("mmap failed: {}", std::strerror(errno))};
    return {segment{base, size}, {}};
}

}  // namespace uct::posix
