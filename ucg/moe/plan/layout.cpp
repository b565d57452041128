#include "ucg/moe/plan/layout.hpp"

#include <utility>

namespace ucg::moe {

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
