// Result of an atomic operation on a number.
#pragma once

#include "uct/api/atomic.hpp"

namespace uct {

template<class Word>
[[nodiscard]] constexpr Word value_after(const atomic_op& op, Word was) noexcept {
    const auto operand = static_cast<Word>(op.operand);
    switch (op.kind) {
        case atomic_kind::add:
            return static_cast<Word>(was + operand);
        case atomic_kind::swap:
            return operand;
        case atomic_kind::cswap:
            return was == operand ? static_cast<Word>(op.swap) : was;
        case atomic_kind::bit_and:
            return was & operand;
        case atomic_kind::bit_or:
            return was | operand;
        case atomic_kind::bit_xor:
            break;
    }
    return was ^ operand;
}

}  // namespace uct
