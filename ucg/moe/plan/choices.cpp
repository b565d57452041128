#include "ucg/moe/plan/choices.hpp"

#include <utility>

#include "ucg/schedule/log.hpp"

namespace ucg::moe {
namespace {

bool has_form(const const_matrix& topk) noexcept {
    return (topk.type == reduce::element::int32 || topk.type == reduce::element::int64) &&
           topk.elements >= 1 && topk.elements <= choices::max_k &&
           topk.rows <= choices::max_tokens && (topk.rows == 0 || topk);
}

}  // namespace

ucs::result<choices> choices::make(const team& group, const const_matrix& topk) {
    if (!has_form(topk)) {
        ucs::log::error(moe_log,
                        "the chosen experts are {} rows of {} {}s{}: give up to {} rows of 1 to {} "
                        "int32 or int64",
                        topk.rows, topk.elements, reduce::name(topk.type),
                        topk ? "" : " at a null pointer", max_tokens, max_k);
        return UCS_ERR_INVALID_PARAM;
    }
    choices made;
    made.tokens_ = static_cast<std::uint32_t>(topk.rows);
    made.k_ = topk.elements;
    made.all_.reserve(topk.rows * topk.elements);
    for (std::uint64_t token = 0; token < topk.rows; ++token) {
        for (std::uint32_t i = 0; i < topk.elements; ++i) {
            const std::int64_t expert = integer_at(topk, token, i);
            if (expert < none || expert >= group.experts()) {
                ucs::log::error(
                    moe_log, "token {} chose expert {} at place {}: give 0 to {}, or -1 for none",
                    token, expert, i, group.experts() - 1);
                return UCS_ERR_INVALID_PARAM;
            }
            const auto chosen = static_cast<expert_t>(expert);
            const bool is_there = chosen != none && group.is_alive(group.rank_of(chosen));
            made.all_.push_back(is_there ? chosen : none);
        }
    }
    return made;
}

layout layout_of(const team& group, const choices& chosen, bool with_ranks) {
    layout made;
    made.per_rank.resize(group.ranks());
    made.per_node.resize(group.nodes());
    made.per_expert.resize(group.experts());
    if (with_ranks) made.in_rank.resize(std::size_t{chosen.tokens()} * group.ranks());
    std::vector<std::uint32_t> last(group.nodes());  // the last token that went to a node, plus 1
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        for (const expert_t expert : chosen.experts_of(token))
            if (expert != choices::none) ++made.per_expert[static_cast<std::size_t>(expert)];
        for_each_rank(group, chosen.experts_of(token), [&](rank_t rank) {
            ++made.per_rank[rank];
            if (with_ranks) made.in_rank[std::size_t{token} * group.ranks() + rank] = 1;
            if (std::exchange(last[group.node_of(rank)], token + 1) != token + 1)
                ++made.per_node[group.node_of(rank)];
        });
    }
    return made;
}

}  // namespace ucg::moe
