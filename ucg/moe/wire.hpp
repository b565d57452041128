// What ranks tell each other before data moves. All numbers as the machine has them: the ranks of a
// group are of one kind.
//
//  to the relay on each node     route_header, counts[channels], targets[ranks]; then
//                                route_record[tokens to the node]
//  from the relay to the ranks   for each of its sources route_header, counts[channels],
//  of its node                   targets[ranks]; then for each of its sources
//                                route_record[tokens to the rank]
//
//  targets                       how many tokens go from the source to each rank; only where ranks
//                                agree to say so
//  route_record                  token, experts[k]: 4 bytes each
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucg::moe {

struct route_header {
    static constexpr std::uint32_t version = 0x6d6f6531;

    std::uint32_t form;  // version
    std::uint32_t source;
    std::uint64_t fingerprint;  // of what ranks must agree on
    std::uint32_t tokens;       // that the source has
    std::uint32_t relayed;      // 0: their data comes from the source, 1: by the relay
};
static_assert(sizeof(route_header) == 24);

// What ranks agree on, which lengths follow from.
struct route_form {
    std::uint32_t channels = 0;
    std::uint32_t k = 0;
    std::uint32_t targets = 0;  // all ranks, or none
};

// With so many numbers behind it.
[[nodiscard]] constexpr std::size_t header_bytes(std::uint32_t counts) noexcept {
    return sizeof(route_header) + std::size_t{counts} * sizeof(std::uint32_t);
}
[[nodiscard]] constexpr std::size_t header_bytes(const route_form& of) noexcept {
    return header_bytes(of.channels + of.targets);
}
[[nodiscard]] constexpr std::size_t record_bytes(std::uint32_t k) noexcept {
    return (std::size_t{k} + 1) * sizeof(std::uint32_t);
}

}  // namespace ucg::moe
