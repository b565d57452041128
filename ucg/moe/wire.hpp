// Wire format of the notify messages, which ranks exchange before data moves. Numbers are in host
// byte order, because all ranks of a group have the same byte order.
//
//  to the relay on each node     route_header, counts[channels], targets[ranks]; then
//                                route_record[tokens to the node]
//  from the relay to the ranks   for each of its sources route_header, counts[channels],
//  of its node                   targets[ranks]; then for each of its sources
//                                route_record[tokens to the rank]
//
//  targets                       how many tokens the source sends to each rank; present only if
//                                settings::all_counts is set
//  route_record                  token, experts[k]: 4 bytes each
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucg/moe/team.hpp"
#include "ucs/type/status.h"

namespace ucg::moe {

struct route_header {
    static constexpr std::uint32_t version = 0x6d6f6531;

    std::uint32_t form;  // version
    std::uint32_t source;
    std::uint64_t fingerprint;  // hash of everything that ranks must agree on
    std::uint32_t tokens;       // number of tokens of the source
    std::uint32_t relayed;      // 0: the source sends their data, 1: the relay sends it
};
static_assert(sizeof(route_header) == 24);

// Parameters that all ranks agree on and that determine the lengths of messages.
struct header_form {
    std::uint32_t channels = 0;
    std::uint32_t k = 0;
    std::uint32_t targets = 0;  // all ranks, or none
};

// Length of a header that `counts` numbers follow.
[[nodiscard]] constexpr std::size_t header_bytes(std::uint32_t counts) noexcept {
    return sizeof(route_header) + std::size_t{counts} * sizeof(std::uint32_t);
}
[[nodiscard]] constexpr std::size_t header_bytes(const header_form& form) noexcept {
    return header_bytes(form.channels + form.targets);
}

// Returns UCS_ERR_INVALID_PARAM if `source` uses other parameters than this rank, and
// UCS_ERR_IO_ERROR if `source` cannot have sent such a header. Logs the reason.
[[nodiscard]] ucs_status_t check(const route_header& header, rank_t source,
                                 std::uint64_t fingerprint) noexcept;

// Logs that `source` sent a message that no correct rank sends. Returns UCS_ERR_IO_ERROR.
ucs_status_t refuse_from(rank_t source, const char* reason) noexcept;

}  // namespace ucg::moe
