#include "ucm/hook/trampoline.hpp"

#include <sys/mman.h>

#include <cstring>

#include "ucm/api/ucm.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace ucm::hook {
namespace {

constexpr std::size_t page_bytes = 4096;

std::uint8_t* take_page(std::uintptr_t address) noexcept {
    void* wanted = reinterpret_cast<void*>(address);
    void* got = ucm_orig_mmap(wanted, page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) return static_cast<std::uint8_t*>(got);
    if (got != MAP_FAILED) ucm_orig_munmap(got, page_bytes);  // a kernel without NOREPLACE
    return nullptr;
}

}  // namespace

bool trampoline_page::open(const void* code) noexcept {
    // A jump of five bytes reaches 2 GB. The page is within 1 GB of `code`, so that jumps from
    // everywhere in the C library reach it.
    constexpr std::uintptr_t step = std::uintptr_t{1} << 20;
    constexpr std::uintptr_t reach = std::uintptr_t{1} << 30;
    const std::uintptr_t middle = reinterpret_cast<std::uintptr_t>(code) & ~(step - 1);
    for (std::uintptr_t distance = step; distance < reach && page_ == nullptr; distance += step) {
        if (distance < middle) page_ = take_page(middle - distance);
        if (page_ == nullptr) page_ = take_page(middle + distance);
    }
    return page_ != nullptr;
}

const void* trampoline_page::add_jump(int stack, const void* target) noexcept {
    constexpr std::size_t most = 4 + 6 + sizeof(target);
    if (used_ + most > page_bytes) return nullptr;
    std::uint8_t* const begin = page_ + used_;
    std::uint8_t* cursor = begin;
    if (stack != 0) {  // add $n,%rsp or sub $n,%rsp
        const std::uint8_t change[] = {0x48, 0x83,
                                       static_cast<std::uint8_t>(stack > 0 ? 0xc4 : 0xec),
                                       static_cast<std::uint8_t>(stack > 0 ? stack : -stack)};
        std::memcpy(cursor, change, sizeof(change));
        cursor += sizeof(change);
    }
    constexpr std::uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp through the pointer behind it
    std::memcpy(cursor, jump, sizeof(jump));
    std::memcpy(cursor + sizeof(jump), &target, sizeof(target));
    used_ += most;
    return begin;
}

bool trampoline_page::close() noexcept {
    return mprotect(page_, page_bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace ucm::hook
