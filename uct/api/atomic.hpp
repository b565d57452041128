// Atomic operations on one word of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace uct {

// The values are those of ucp_atomic_op_t, and appear in messages.
enum class atomic_kind : std::uint32_t { add, swap, cswap, bit_and, bit_or, bit_xor };
inline constexpr unsigned atomic_kinds = 6;

// In the order of the kinds.
inline constexpr std::array<const char*, atomic_kinds> atomic_names{"add", "swap", "cswap",
                                                                    "and", "or",   "xor"};

// One operation in plain form.
struct atomic_op {
    atomic_kind kind = atomic_kind::add;
    std::size_t size = 0;       // bytes of the word, 4 or 8
    std::uint64_t operand = 0;  // of cswap: the value to compare with
    std::uint64_t swap = 0;     // of cswap: the value to store

    [[nodiscard]] bool possible() const noexcept {
        return (size == 4 || size == 8) && static_cast<unsigned>(kind) < atomic_kinds;
    }
    // A swap is useful only if its caller receives the old value.
    [[nodiscard]] bool must_fetch() const noexcept {
        return kind == atomic_kind::swap || kind == atomic_kind::cswap;
    }
};

// A set of kinds.
struct atomic_mask {
    std::uint8_t bits = 0;
    [[nodiscard]] constexpr bool has(atomic_kind kind) const noexcept {
        return (bits >> static_cast<unsigned>(kind) & 1U) != 0;
    }
    constexpr void add(atomic_kind kind) noexcept {
        bits = static_cast<std::uint8_t>(bits | 1U << static_cast<unsigned>(kind));
    }
    friend bool operator==(const atomic_mask&, const atomic_mask&) = default;
};

// Returns the names of the kinds, as "add, swap".
[[nodiscard]] inline std::string names_of(atomic_mask set) {
    std::string names;
    for (unsigned kind = 0; kind < atomic_kinds; ++kind) {
        if (!set.has(static_cast<atomic_kind>(kind))) continue;
        names += names.empty() ? "" : ", ";
        names += atomic_names[kind];
    }
    return names;
}

// The operations for words of one size: without a result, and with the old value.
struct atomic_kinds_of_size {
    atomic_mask posted;
    atomic_mask fetching;
};

struct atomic_support {
    atomic_kinds_of_size words32;
    atomic_kinds_of_size words64;

    [[nodiscard]] bool has(const atomic_op& op, bool fetches) const noexcept {
        if (!op.possible()) return false;
        const atomic_kinds_of_size& kinds = op.size == 8 ? words64 : words32;
        return (fetches ? kinds.fetching : kinds.posted).has(op.kind);
    }
};

}  // namespace uct
