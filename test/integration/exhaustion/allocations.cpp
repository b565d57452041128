#include "test/integration/exhaustion/allocations.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace {

bool armed = false;
exhaustion::failing fails = exhaustion::failing::once;
std::size_t fatal = 0;
std::size_t counted = 0;
std::size_t held = 0;

bool refused() noexcept {
    if (!armed) return false;
    ++counted;
    return fails == exhaustion::failing::once ? counted == fatal : counted >= fatal;
}

void* take(std::size_t size) noexcept {
    if (refused()) return nullptr;
    void* memory = std::malloc(size > 0 ? size : 1);
    held += memory != nullptr ? 1U : 0U;
    return memory;
}

void* take(std::size_t size, std::align_val_t alignment) noexcept {
    if (refused()) return nullptr;
    const auto step = static_cast<std::size_t>(alignment);
    void* memory = std::aligned_alloc(step, (size + step - 1) / step * step);
    held += memory != nullptr ? 1U : 0U;
    return memory;
}

void* or_throw(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void give(void* memory) noexcept {
    held -= memory != nullptr ? 1U : 0U;
    std::free(memory);
}

}  // namespace

namespace exhaustion {

void arm(failing what_fails, std::size_t nth) noexcept {
    fails = what_fails;
    fatal = nth;
    counted = 0;
    armed = true;
}

std::size_t disarm() noexcept {
    armed = false;
    return counted;
}

bool struck() noexcept {
    return counted >= fatal;
}

std::size_t live() noexcept {
    return held;
}

int next_descriptor() noexcept {
    const int next = ::open("/dev/null", O_RDONLY);
    ::close(next);
    return next;
}

}  // namespace exhaustion

void* operator new(std::size_t size) {
    return or_throw(take(size));
}
void* operator new[](std::size_t size) {
    return or_throw(take(size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return take(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return or_throw(take(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return or_throw(take(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return take(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return take(size, alignment);
}

void operator delete(void* memory) noexcept {
    give(memory);
}
void operator delete[](void* memory) noexcept {
    give(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    give(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    give(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    give(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    give(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    give(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    give(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    give(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    give(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    give(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    give(memory);
}
