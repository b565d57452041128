// What a rank says that it was called with.
#pragma once

#include <string>

#include "ucg/node/pattern.hpp"

namespace ucg::node {

// Three words. The first has the number of the operation (16 bits), the collective (8) and a hash
// of all that ranks must agree on (40); the others only serve to tell people what the rank did. One
// of another rank may have any content. Value type.
class claim {
public:
    // Number 0. Neither buffers nor `in_place` are in it, nor the root where there is none.
    claim(const call& what, const flow& how, rank_t ranks) noexcept;
    // What another rank wrote.
    claim(std::uint64_t entry, std::uint64_t count, std::uint64_t rest) noexcept
        : entry_(entry), count_(count), rest_(rest) {}

    [[nodiscard]] std::uint64_t entry(std::uint64_t number) const noexcept {
        return entry_ | (number & number_bits);
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t rest() const noexcept { return rest_; }

    // Whether both words are of the same operation.
    [[nodiscard]] static bool same_number(std::uint64_t one, std::uint64_t other) noexcept {
        return ((one ^ other) & number_bits) == 0;
    }
    // "allreduce of 5 elements of 4 bytes, sum of fp32"
    [[nodiscard]] std::string text() const;
    // The same for who knows the first word only: "allreduce".
    [[nodiscard]] static std::string text(std::uint64_t entry);

private:
    static constexpr std::uint64_t number_bits = 0xffff;

    std::uint64_t entry_;
    std::uint64_t count_;  // elements; of all blocks together where they differ in size
    std::uint64_t rest_;   // bytes of an element (32 bits), root (16), kind of the reducer (16)
};

}  // namespace ucg::node
