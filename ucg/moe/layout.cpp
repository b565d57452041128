#include "ucg/moe/layout.hpp"

#include <utility>

namespace ucg::moe {

layout layout_of(const team& of, const choices& chosen, bool with_ranks) {
    layout made;
    made.per_rank.resize(of.ranks());
    made.per_node.resize(of.nodes());
    made.per_expert.resize(of.experts());
    if (with_ranks) made.in_rank.resize(std::size_t{chosen.tokens()} * of.ranks());
    std::vector<std::uint32_t> last(of.nodes());  // the last token that went to a node, plus 1
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        for (const expert_t expert : chosen.of(token))
            if (expert != choices::none) ++made.per_expert[static_cast<std::size_t>(expert)];
        for_each_rank(of, chosen.of(token), [&](rank_t rank) {
            ++made.per_rank[rank];
            if (with_ranks) made.in_rank[std::size_t{token} * of.ranks() + rank] = 1;
            if (std::exchange(last[of.node_of(rank)], token + 1) != token + 1)
                ++made.per_node[of.node_of(rank)];
        });
    }
    return made;
}

}  // namespace ucg::moe
