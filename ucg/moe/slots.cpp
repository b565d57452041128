#include "ucg/moe/slots.hpp"

#include "ucg/moe/log.hpp"

namespace ucg::moe {

std::uint32_t slots::rows_to(rank_t rank) const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t e = 0; e < of->local_experts(); ++e)
        sum += sent.size(std::size_t{rank} * of->local_experts() + e, 0);
    return sum;
}

std::uint32_t slots::rows_from(rank_t rank) const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t e = 0; e < of->local_experts(); ++e)
        sum += range_of(e, rank).count;
    return sum;
}

ucs_status_t slots::plan_sends() {
    if (chosen.tokens() > by.most_tokens) {
        ucs::log::error(moe_log, "{} tokens are more than the {} that were agreed on: raise that",
                        chosen.tokens(), by.most_tokens);
        return UCS_ERR_INVALID_PARAM;
    }
    sent.resize(of->experts(), 1);
    const auto pass = [&](auto found) {
        for (std::uint32_t token = 0; token < chosen.tokens(); ++token)
            for (std::uint32_t j = 0; j < chosen.k(); ++j)
                if (const expert_t expert = chosen.of(token)[j]; expert != choices::none)
                    found(static_cast<std::size_t>(expert), token, j);
    };
    pass([&](std::size_t expert, std::uint32_t, std::uint32_t) { sent.count(expert, 0); });
    sent.open();
    std::vector<std::uint32_t> next(of->experts());
    for (std::uint32_t expert = 0; expert < of->experts(); ++expert) {
        if (sent.size(expert, 0) > by.most_tokens) {
            ucs::log::error(moe_log,
                            "expert {} is chosen {} times by {} tokens: choose each at most once for "
                            "a token",
                            expert, sent.size(expert, 0), chosen.tokens());
            return UCS_ERR_INVALID_PARAM;
        }
        if (expert % of->local_experts() != 0)
            next[expert] = next[expert - 1] + sent.size(expert - 1, 0);
    }
    place.resize(std::size_t{chosen.tokens()} * chosen.k());
    pass([&](std::size_t expert, std::uint32_t token, std::uint32_t j) {
        sent.add(expert, 0, token);
        place[std::size_t{token} * chosen.k() + j] = next[expert]++;
    });
    sent.close();
    return UCS_OK;
}

}  // namespace ucg::moe
