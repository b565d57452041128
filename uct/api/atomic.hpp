// Atomic operations on one word of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace uct {

// The numbers are those of ucp_atomic_op_t, and of messages.
enum class atomic_kind : std::uint32_t { add, swap, cswap, bit_and, bit_or, bit_xor };
inline constexpr unsigned atomic_kinds = 6;

// In the order of the kinds.
inline constexpr std::array<const char*, atomic_kinds> atomic_names{"add", "swap", "cswap",
                                                                    "and", "or",   "xor"};

// One operation in plain form.
struct atomic_op {
    atomic_kind what = atomic_kind::add;
    std::size_t size = 0;       // bytes of the word, 4 or 8
    std::uint64_t operand = 0;  // of cswap: what must be there
    std::uint64_t swap = 0;     // of cswap: what is stored then

    [[nodiscard]] bool possible() const noexcept {
        return (size == 4 || size == 8) && static_cast<unsigned>(what) < atomic_kinds;
    }
    // Swapping is of use only to who hears what was there.
    [[nodiscard]] bool must_fetch() const noexcept {
        return what == atomic_kind::swap || what == atomic_kind::cswap;
    }
};

// A set of kinds.
struct atomic_mask {
    std::uint8_t bits = 0;
    [[nodiscard]] constexpr bool has(atomic_kind which) const noexcept {
        return (bits >> static_cast<unsigned>(which) & 1U) != 0;
    }
    constexpr void add(atomic_kind which) noexcept {
        bits = static_cast<std::uint8_t>(bits | 1U << static_cast<unsigned>(which));
    }
    friend bool operator==(const atomic_mask&, const atomic_mask&) = default;
};

// "add, swap": for people.
[[nodiscard]] inline std::string names_of(atomic_mask set) {
    std::string names;
    for (unsigned kind = 0; kind < atomic_kinds; ++kind) {
        if (!set.has(static_cast<atomic_kind>(kind))) continue;
        names += names.empty() ? "" : ", ";
        names += atomic_names[kind];
    }
    return names;
}

// Which operations there are for words of one size: without an answer, and with what was there.
struct atomic_kinds_of_size {
    atomic_mask posted;
    atomic_mask fetching;
};

struct atomic_support {
    atomic_kinds_of_size words32;
    atomic_kinds_of_size words64;

    [[nodiscard]] bool has(const atomic_op& op, bool fetches) const noexcept {
        if (!op.possible()) return false;
        const atomic_kinds_of_size& of = op.size == 8 ? words64 : words32;
        return (fetches ? of.fetching : of.posted).has(op.what);
    }
};

}  // namespace uct
