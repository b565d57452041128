#include "ucs/random/random_bytes.hpp"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ucs/random/seeded.hpp"

namespace ucs::sys {
namespace {

constinit std::atomic<std::uint64_t> calls{0};

void weak_bytes(char* into, std::size_t size) noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::uint64_t state = mix(static_cast<std::uint64_t>(::getpid())) ^
                          mix(static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                              static_cast<std::uint64_t>(now.tv_nsec)) ^
                          mix(calls.fetch_add(1, std::memory_order_relaxed)) ^
                          reinterpret_cast<std::uintptr_t>(into);
    while (size != 0) {
        state = mix(state);
        const std::size_t part = std::min(size, sizeof(state));
        std::memcpy(into, &state, part);
        into += part;
        size -= part;
    }
}

}  // namespace

void random_bytes(void* into, std::size_t size) noexcept {
    auto* next = static_cast<char*>(into);
    while (size != 0) {
        const ssize_t count = ::getrandom(next, size, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            weak_bytes(next, size);
            return;
        }
        next += count;
        size -= static_cast<std::size_t>(count);
    }
}

std::uint64_t random_id() noexcept {
    std::uint64_t id = 0;
    while (id == 0)
        random_bytes(&id, sizeof(id));
    return id;
}

}  // namespace ucs::sys
