// Carrying out an atomic operation on memory that is mapped here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ucp/api/ucp_rma.h"

namespace ucp {

// One operation in plain form.
struct atomic_op {
    ucp_atomic_op_t what = UCP_ATOMIC_OP_ADD;
    std::size_t size = 0;       // 4 or 8 bytes
    std::uint64_t operand = 0;  // of cswap: what must be there
    std::uint64_t swap = 0;     // of cswap: what is stored then

    [[nodiscard]] bool possible() const noexcept {
        return (size == 4 || size == 8) && static_cast<unsigned>(what) < UCP_ATOMIC_OP_LAST;
    }
};

namespace detail {
template<class Word>
Word apply_word(std::byte* at, const atomic_op& op) noexcept {
    const std::atomic_ref<Word> memory(*reinterpret_cast<Word*>(at));
    const auto operand = static_cast<Word>(op.operand);
    switch (op.what) {
        case UCP_ATOMIC_OP_ADD:
            return memory.fetch_add(operand);
        case UCP_ATOMIC_OP_SWAP:
            return memory.exchange(operand);
        case UCP_ATOMIC_OP_AND:
            return memory.fetch_and(operand);
        case UCP_ATOMIC_OP_OR:
            return memory.fetch_or(operand);
        case UCP_ATOMIC_OP_XOR:
            return memory.fetch_xor(operand);
        case UCP_ATOMIC_OP_CSWAP:
        case UCP_ATOMIC_OP_LAST:
            break;
    }
    Word seen = operand;
    memory.compare_exchange_strong(seen, static_cast<Word>(op.swap));
    return seen;
}
}  // namespace detail

// What was there before. `at` is a multiple of the size. Every process of the host that has the
// memory mapped, and the owner for those who have not, use the same instructions.
inline std::uint64_t apply_atomic(std::byte* at, const atomic_op& op) noexcept {
    return op.size == 8 ? detail::apply_word<std::uint64_t>(at, op)
                        : detail::apply_word<std::uint32_t>(at, op);
}

}  // namespace ucp
