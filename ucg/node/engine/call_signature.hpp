// The arguments that a rank called a collective with, as words that other ranks compare.
#pragma once

#include <string>

#include "ucg/node/patterns/pattern.hpp"

namespace ucg::node {

// Three words. The first has the number of the operation (16 bits), the collective (8) and a hash
// of all that ranks must agree on (40). The others serve log lines only. The words of another rank
// may have any content. Value type.
class call_signature {
public:
    // Number 0. The signature contains neither buffers nor `in_place`, and the root only if the
    // collective has one.
    call_signature(const call& args, const stage_plan& plan, rank_t ranks) noexcept;
    // From the words of another rank.
    call_signature(std::uint64_t entry, std::uint64_t count, std::uint64_t rest) noexcept
        : entry_(entry), count_(count), rest_(rest) {}

    [[nodiscard]] std::uint64_t entry(std::uint64_t number) const noexcept {
        return entry_ | (number & number_bits);
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t rest() const noexcept { return rest_; }

    // Returns whether both words belong to the same operation.
    [[nodiscard]] static bool same_number(std::uint64_t one, std::uint64_t other) noexcept {
        return ((one ^ other) & number_bits) == 0;
    }
    // For example "allreduce of 5 elements of 4 bytes, sum of fp32".
    [[nodiscard]] std::string text() const;
    // The same if only the first word is known: "allreduce".
    [[nodiscard]] static std::string text(std::uint64_t entry);

private:
    static constexpr std::uint64_t number_bits = 0xffff;

    std::uint64_t entry_;
    std::uint64_t count_;  // elements; of all blocks together if they differ in size
    std::uint64_t rest_;   // bytes of an element (32 bits), root (16), kind of the reducer (16)
};

}  // namespace ucg::node
