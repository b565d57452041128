// Atomic operations on mapped memory.
#pragma once

#include <atomic>

#include "uct/api/atomic.hpp"

namespace uct::sm {

namespace detail {
template<class Word>
Word apply_word(std::byte* word, const atomic_op& op) noexcept {
    const std::atomic_ref<Word> memory(*reinterpret_cast<Word*>(word));
    const auto operand = static_cast<Word>(op.operand);
    switch (op.kind) {
        case atomic_kind::add:
            return memory.fetch_add(operand);
        case atomic_kind::swap:
            return memory.exchange(operand);
        case atomic_kind::bit_and:
            return memory.fetch_and(operand);
        case atomic_kind::bit_or:
            return memory.fetch_or(operand);
        case atomic_kind::bit_xor:
            return memory.fetch_xor(operand);
        case atomic_kind::cswap:
            break;
    }
    Word seen = operand;
    memory.compare_exchange_strong(seen, static_cast<Word>(op.swap));
    return seen;
}
}  // namespace detail

// Performs the operation and returns the old value. `word` is a multiple of the size. All processes
// that have mapped the memory, and the owner on behalf of the others, use the same instructions.
inline std::uint64_t apply_atomic(std::byte* word, const atomic_op& op) noexcept {
    return op.size == 8 ? detail::apply_word<std::uint64_t>(word, op)
                        : detail::apply_word<std::uint32_t>(word, op);
}

// Returns all operations of apply_atomic, with and without a result.
[[nodiscard]] constexpr atomic_support processor_atomics() noexcept {
    atomic_kinds_of_size all;
    for (unsigned kind = 0; kind < atomic_kinds; ++kind) {
        atomic_op op;
        op.kind = static_cast<atomic_kind>(kind);
        all.fetching.add(op.kind);
        if (!op.must_fetch()) all.posted.add(op.kind);
    }
    return {all, all};
}

}  // namespace uct::sm
