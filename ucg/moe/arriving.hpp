// What a rank receives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/routes.hpp"

namespace ucg::moe {

// Rows are in the order of (source rank, its token). Value, immutable once made.
struct arriving {
    struct origin {
        rank_t source;
        std::uint32_t token;
    };
    std::uint32_t rows = 0;
    std::uint32_t k = 0;
    std::vector<rank_t> from;           // [ranks] who sends a source's rows; nobody: it is masked
    std::vector<std::uint32_t> counts;  // [ranks, channels] rows
    std::vector<std::uint32_t> begins;  // [ranks, channels] the first of them
    std::vector<origin> origins;        // [rows]
    std::vector<expert_t> chosen;       // [rows, k] this rank's experts, or none
    std::vector<std::uint32_t> per_expert;  // [local experts] choices
    // [rows, living ranks of this node] 1: the rank gets the row's token as well; empty: not asked
    // for.
    std::vector<std::uint8_t> holders;

    // Of routes that were checked, in any order; one of each living rank. UCS_ERR_EXCEEDS_LIMIT:
    // more rows than can be numbered. std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& of, std::span<const routes> all,
                                    std::uint32_t channels, std::uint32_t choices_per_token);
    // Also who else of this node has the rows.
    void find_holders(const team& of, std::span<const routes> all, std::uint32_t channels);
    [[nodiscard]] std::span<const std::uint32_t> counts_of(rank_t source,
                                                           std::uint32_t channels) const noexcept {
        return std::span(counts).subspan(std::size_t{source} * channels, channels);
    }

private:
    void take(const team& of, const routes& each, std::uint32_t channels);
};

}  // namespace ucg::moe
