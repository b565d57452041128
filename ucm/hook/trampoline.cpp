#include "ucm/hook/trampoline.hpp"

#include <sys/mman.h>

#include <cstring>

#include "ucm/api/ucm.h"
#include "ucm/hook/instruction.hpp"
#include "ucm/hook/relocation.hpp"

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
    // everywhere in its library reach it.
    constexpr std::uintptr_t step = std::uintptr_t{1} << 20;
    constexpr std::uintptr_t reach = std::uintptr_t{1} << 30;
    const std::uintptr_t middle = reinterpret_cast<std::uintptr_t>(code) & ~(step - 1);
    for (std::uintptr_t distance = step; distance < reach && page_ == nullptr; distance += step) {
        if (distance < middle) page_ = take_page(middle - distance);
        if (page_ == nullptr) page_ = take_page(middle + distance);
    }
    return page_ != nullptr;
}

const void* trampoline_page::add_jump(const undo_code& undo, const void* target) noexcept {
    if (used_ + undo.size() + far_jump_size > page_bytes) return nullptr;
    std::uint8_t* const begin = page_ + used_;
    std::memcpy(begin, undo.begin(), undo.size());
    used_ += undo.size() + write_far_jump(begin + undo.size(), target);
    return begin;
}

// The gate has the instructions up to the one where the jump lies, and those that another library
// may overwrite with a longer jump at the start of the function.
const void* trampoline_page::add_gate(const entry& replaced) noexcept {
    constexpr std::size_t longest_foreign_jump = 4 + 14;  // after the mark of a branch target
    std::size_t used = used_;
    const std::uint8_t* from = replaced.function;
    bool continues = true;
    while (continues) {
        const bool needed = from <= replaced.address;
        if (!needed && from >= replaced.function + longest_foreign_jump) break;
        if (used + longest_relocated + far_jump_size > page_bytes) return nullptr;
        const instruction next = decode(from);
        const std::size_t written = relocate(from, next, page_ + used);
        if (written == 0 && needed) return nullptr;
        if (written == 0) break;
        used += written;
        from += next.length;
        continues = !leaves(next);
    }
    if (continues) used += write_far_jump(page_ + used, from);
    const void* const begin = page_ + used_;
    used_ = used;
    return begin;
}

bool trampoline_page::close() noexcept {
    return mprotect(page_, page_bytes, PROT_READ | PROT_EXEC) == 0;
}

}  // namespace ucm::hook
