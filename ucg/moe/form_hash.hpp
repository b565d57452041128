// A hash of what ranks must give alike.
#pragma once

#include <cstdint>

namespace ucg::moe {

// The order counts. Value.
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
    // The same where 0 has a meaning of its own.
    [[nodiscard]] std::uint64_t not_zero() const noexcept { return hash_ | 1U; }

private:
    void mix(std::uint64_t value) noexcept {
        hash_ = (hash_ ^ value) * 0x100000001b3;
        hash_ ^= hash_ >> 29U;
    }
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace ucg::moe
