// Hash of the parameters that must be the same on every rank.
#pragma once

#include <cstdint>

namespace ucg::moe {

// The hash depends on the order of the values. Value.
class form_hash {
public:
    form_hash() = default;

    template<class... Values>
    [[nodiscard]] form_hash with(Values... values) const noexcept {
        form_hash made = *this;
        (made.mix(static_cast<std::uint64_t>(values)), ...);
        return made;
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }
    // For callers that use 0 as "no hash": returns the hash with bit 0 set.
    [[nodiscard]] std::uint64_t not_zero() const noexcept { return hash_ | 1U; }

private:
    void mix(std::uint64_t value) noexcept {
        hash_ = (hash_ ^ value) * 0x100000001b3;
        hash_ ^= hash_ >> 29U;
    }
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace ucg::moe
