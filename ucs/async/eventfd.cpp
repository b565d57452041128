#include "ucs/async/eventfd.hpp"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/log/log.hpp"

namespace ucs::async {
namespace {

constinit log::component self{"ucs.async"};

}  // namespace

result<eventfd> eventfd::create() {
    unique_fd fd = sys::within_budget(unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
    if (!fd) {
        log::error(self, "eventfd() failed: {}", std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return eventfd(std::move(fd));
}

void eventfd::signal() const noexcept {
    const std::uint64_t one = 1;
    // EAGAIN means that the counter is full: the descriptor is readable already.
    while (::write(fd_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

bool eventfd::drain() const noexcept {
    std::uint64_t count = 0;
    ssize_t size = 0;
    do {
        size = ::read(fd_.get(), &count, sizeof(count));
    } while (size < 0 && errno == EINTR);
    return size == sizeof(count) && count != 0;
}

}  // namespace ucs::async
