#include "ucp/wakeup/wait.hpp"

#include <poll.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "ucs/arch/pause.hpp"

namespace ucp::wakeup {

namespace {

// Looks between two looks at the descriptors, which are a system call, and between two yields.
constexpr unsigned looks_per_yield = 32;

bool readable(int fd, int timeout_ms) noexcept {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
}

bool has_work(worker& owner) noexcept {
    const worker_guard guard(owner.lock());
    return owner.has_work();
}

enum class seen { nothing, work, descriptor };

seen look_for(worker& owner, ucs::time::nanoseconds budget) noexcept {
    const ucs::time::nanoseconds end = ucs::time::now() + budget;
    do {
        for (unsigned i = 0; i < looks_per_yield; ++i) {
            if (has_work(owner)) return seen::work;
            ucs::arch::pause();
        }
        if (readable(owner.events().fd(), 0)) return seen::descriptor;
        // With more processes than processors the one that is waited for may need this one.
        ::sched_yield();
    } while (ucs::time::now() < end);
    return seen::nothing;
}

ucs_status_t sleep_on(int fd) noexcept {
    pollfd one{fd, POLLIN, 0};
    while (::poll(&one, 1, -1) < 0) {
        if (errno == EINTR) continue;
        ucs::log::error(core_log, "a worker cannot sleep, poll() failed: {}", std::strerror(errno));
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

// The next progress looks at the descriptors, too, and finds what was seen there. With the lock.
void woken(worker& owner) noexcept {
    owner.look_everywhere();
    // A signal has done what it is for, unless others have not heard it yet.
    owner.hear();
}

}  // namespace

ucs_status_t wait(worker& owner) noexcept {
    ucs::time::nanoseconds budget = 0;
    {
        const worker_guard guard(owner.lock());
        budget = owner.spinning().next();
    }
    if (budget > 0) {
        const seen found = look_for(owner, budget);
        const worker_guard guard(owner.lock());
        owner.spinning().learn(found != seen::nothing);
        // What every progress polls needs no system call to be found.
        if (found == seen::descriptor || (found == seen::work && !owner.has_polled_work())) {
            woken(owner);
        }
        if (found != seen::nothing) return UCS_OK;
    }
    ucs_status_t status = UCS_OK;
    {
        const worker_guard guard(owner.lock());
        status = owner.arm();
        if (status == UCS_OK) owner.lie_down();
    }
    if (status == UCS_ERR_BUSY) return UCS_OK;
    if (status != UCS_OK) return status;
    status = sleep_on(owner.events().fd());
    const worker_guard guard(owner.lock());
    owner.rise();
    return status;
}

void wait_for_memory(worker& owner, const void* address) noexcept {
    constexpr unsigned looks = 1024;
    // Others write to it meanwhile; it is only read here.
    const std::atomic_ref byte(*static_cast<unsigned char*>(const_cast<void*>(address)));
    const unsigned char before = byte.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < looks; ++i) {
        if (byte.load(std::memory_order_acquire) != before) return;
        if (i % looks_per_yield == 0 && has_work(owner)) return;
        ucs::arch::pause();
    }
    ::sched_yield();
}

}  // namespace ucp::wakeup
