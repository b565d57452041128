// Trampolines: small pieces of code within reach of a jump of five bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucm/hook/entry.hpp"

namespace ucm::hook {

// A page of trampolines near a library, written once and then only executed. Used while
// replacements are installed. The page is never freed, because threads may be executing it.
class trampoline_page {
public:
    // Maps a page that a jump reaches from `code` and from a few megabytes around it. Returns false
    // if there is none.
    [[nodiscard]] bool open(const void* code) noexcept;

    // Adds a trampoline that undoes the instructions before an entry and jumps to `target`. Returns
    // its address, or nullptr if the page is full.
    [[nodiscard]] const void* add_jump(const undo_code& undo, const void* target) noexcept;

    // Adds a gate: code to call in place of the function of an entry, when a jump has been written
    // there. It has the function's first instructions, and continues behind them. Returns nullptr
    // if an instruction cannot be moved or the page is full.
    [[nodiscard]] const void* add_gate(const entry& replaced) noexcept;

    // Makes the trampolines executable. Returns false if the system does not permit it.
    [[nodiscard]] bool close() noexcept;

private:
    std::uint8_t* page_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace ucm::hook
