// The receive plan of a rank: which rows it gets, from which ranks, and for which experts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/plan/routes.hpp"

namespace ucg::moe {

// Rows are sorted by source rank, then by token. A value that is immutable once made.
struct receive_plan {
    struct origin {
        rank_t source;
        std::uint32_t token;
    };
    std::uint32_t rows = 0;
    std::uint32_t k = 0;
    std::vector<rank_t> senders;  // [ranks] the rank that sends a source's rows; no_rank: masked
    std::vector<std::uint32_t> counts;  // [ranks, channels] rows
    std::vector<std::uint32_t> begins;  // [ranks, channels] first row
    std::vector<origin> origins;        // [rows]
    std::vector<expert_t> chosen;  // [rows, k] local number of the expert; none: of another rank
    std::vector<std::uint32_t> per_expert;  // [local experts] choices
    // [rows, living ranks of this node] 1: the rank gets the row's token as well. Empty if
    // settings::holders is not set.
    std::vector<std::uint8_t> holders;

    // `all` are checked routes in any order, one for each living rank. UCS_ERR_EXCEEDS_LIMIT: there
    // are more rows than can be numbered. Throws std::bad_alloc.
    [[nodiscard]] ucs_status_t make(const team& group, std::span<const routes> all,
                                    std::uint32_t channels, std::uint32_t choices_per_token);
    // Fills `holders`.
    void find_holders(const team& group, std::span<const routes> all, std::uint32_t channels);
    [[nodiscard]] std::span<const std::uint32_t> counts_of(rank_t source,
                                                           std::uint32_t channels) const noexcept {
        return std::span(counts).subspan(std::size_t{source} * channels, channels);
    }

private:
    void add_rows(const team& group, const routes& source_routes, std::uint32_t channels);
};

}  // namespace ucg::moe
