// The experts that the gate chose for each token of a rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/team.hpp"
#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// [tokens, k] numbers of experts; `none` marks an unused choice. Value.
class choices {
public:
    static constexpr expert_t none = -1;
    static constexpr std::uint32_t max_k = 1024;            // maximum of k
    static constexpr std::uint64_t max_tokens = 1U << 30U;  // maximum for one rank

    choices() = default;
    // Checks and copies a matrix of int32 or int64. Experts of masked ranks become `none`. A matrix
    // without rows may have a null pointer as data. UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY.
    [[nodiscard]] static ucs::result<choices> make(const team& group, const const_matrix& topk);

    [[nodiscard]] std::uint32_t tokens() const noexcept { return tokens_; }
    [[nodiscard]] std::uint32_t k() const noexcept { return k_; }
    [[nodiscard]] std::span<const expert_t> experts_of(std::uint32_t token) const noexcept {
        return std::span(all_).subspan(std::size_t{token} * k_, k_);
    }

private:
    std::uint32_t tokens_ = 0;
    std::uint32_t k_ = 0;
    std::vector<expert_t> all_;
};

// Calls `found(rank)` once for each rank that has one of these experts, in the order of the
// choices. Returns the number of these ranks.
template<class Found>
std::uint32_t for_each_rank(const team& group, std::span<const expert_t> experts, Found found) {
    std::uint32_t ranks = 0;
    for (std::size_t i = 0; i < experts.size(); ++i) {
        if (experts[i] == choices::none) continue;
        const rank_t rank = group.rank_of(experts[i]);
        bool is_new = true;
        for (std::size_t before = 0; before < i && is_new; ++before)
            is_new = experts[before] == choices::none || group.rank_of(experts[before]) != rank;
        if (!is_new) continue;
        found(rank);
        ++ranks;
    }
    return ranks;
}

// Token counts per rank, node and expert, computed from the choices of this rank alone. A value.
struct layout {
    std::vector<std::int32_t> per_rank;    // [ranks] tokens; a token counts once for each rank
    std::vector<std::int32_t> per_node;    // [nodes] tokens; a token counts once for each node
    std::vector<std::int32_t> per_expert;  // [experts] choices
    std::vector<std::uint8_t> in_rank;     // [tokens, ranks] 1 where the token goes to the rank
};

// Fills in_rank, the only long matrix, only if `with_ranks` is true. Throws std::bad_alloc.
[[nodiscard]] layout layout_of(const team& group, const choices& chosen, bool with_ranks = true);

}  // namespace ucg::moe
