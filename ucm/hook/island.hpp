// Small pieces of code within reach of a jump of five bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucm::hook {

// One page of jumps near a library, written once and then only executed. Held by whoever installs
// replacements; the page is never given back, because threads may be in it.
class island {
public:
    // Takes a page that a jump from `neighbour`, or from a few megabytes around it, reaches.
    // False: there is none.
    [[nodiscard]] bool open(const void* neighbour) noexcept;

    // Adds code that takes `stack` bytes off the stack, or puts them on it when negative, and
    // jumps to `target`. Returns the begin of it; nullptr when the page is full.
    const void* add_jump(int stack, const void* target) noexcept;

    // Makes what was added executable. False: the system does not permit that.
    [[nodiscard]] bool close() noexcept;

private:
    std::uint8_t* page_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace ucm::hook
