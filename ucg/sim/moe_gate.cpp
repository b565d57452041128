#include "ucg/sim/moe_gate.hpp"

#include <algorithm>

#include "ucs/random/seeded.hpp"

namespace ucg::sim {

moe_gate::moe_gate(rank_t ranks, const moe_experiment& setup) : setup_(setup), topk_(ranks) {
    for (rank_t rank = 0; rank < ranks; ++rank)
        choose(rank);
}

void moe_gate::choose(rank_t rank) {
    ucs::sys::random dice(setup_.seed * 0x9e3779b97f4a7c15 + rank);
    std::vector<std::int32_t>& choices = topk_[rank];
    for (std::uint32_t token = 0; token < setup_.tokens; ++token) {
        for (std::uint32_t j = 0; j < setup_.k; ++j) {
            // Takes the next expert that this token has not chosen. The loop ends because there are
            // at least as many experts as choices.
            auto expert = static_cast<std::int32_t>(dice.below(experts()));
            const auto before = choices.end() - std::ptrdiff_t{j};
            while (std::find(before, choices.end(), expert) != choices.end())
                expert = (expert + 1) % static_cast<std::int32_t>(experts());
            choices.push_back(expert);
        }
    }
}

bool moe_gate::is_sent(rank_t source, std::uint32_t token, rank_t to) const noexcept {
    bool found = false;
    for (std::uint32_t j = 0; j < setup_.k; ++j)
        found = found || choice(source, token, j) / setup_.experts == to;
    return found;
}

moe::const_matrix moe_gate::topk(rank_t rank) const noexcept {
    return moe::dense_matrix(reinterpret_cast<const std::byte*>(topk_[rank].data()), setup_.tokens,
                             setup_.k, reduce::element::int32);
}

}  // namespace ucg::sim
