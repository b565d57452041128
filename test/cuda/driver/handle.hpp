// Handles of the stand-in's objects.
#pragma once

#include <atomic>
#include <cstdint>

namespace standin {

// Returns a number that no other object of this process has ever had.
inline std::uint64_t unique_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

// Returns a new handle. It is no address: a program that follows it faults. It is never used again,
// so handles of destroyed objects are recognized for ever.
template<class Handle>
Handle make_handle() noexcept {
    return reinterpret_cast<Handle>(0x5a00'0000'0000'0000U + unique_number() * 16);
}

}  // namespace standin
