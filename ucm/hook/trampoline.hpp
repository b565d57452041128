// Trampolines: small pieces of code within reach of a jump of five bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

// A page of trampolines near a library, written once and then only executed. Used while
// replacements are installed. The page is never freed, because threads may be executing it.
class trampoline_page {
public:
    // Maps a page that a jump reaches from `code` and from a few megabytes around it. Returns false
    // if there is none.
    [[nodiscard]] bool open(const void* code) noexcept;

    // Adds a trampoline that removes `stack` bytes from the stack (or adds them, if negative) and
    // jumps to `target`. Returns the address of the trampoline, or nullptr if the page is full.
    const void* add_jump(int stack, const void* target) noexcept;

    // Makes the trampolines executable. Returns false if the system does not permit it.
    [[nodiscard]] bool close() noexcept;

private:
    std::uint8_t* page_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace ucm::hook
