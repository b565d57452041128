#include "ucg/moe/low_latency/slots.hpp"

#include <utility>

#include "ucg/schedule/log.hpp"

namespace ucg::moe {

std::uint32_t slot_plan::rows_to(rank_t rank) const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t e = 0; e < group->local_experts(); ++e)
        sum += sent.size(std::size_t{rank} * group->local_experts() + e, 0);
    return sum;
}

ucs_status_t slot_plan::make() {
    if (chosen.tokens() > options.max_tokens) {
        ucs::log::error(moe_log,
                        "{} tokens exceed the agreed maximum of {}: raise the maximum on all ranks",
                        chosen.tokens(), options.max_tokens);
        return UCS_ERR_INVALID_PARAM;
    }
    std::vector<std::uint32_t> last(group->experts());  // last token that chose each expert, plus 1
    sent.resize(group->experts(), 1);
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        for (const expert_t choice : chosen.experts_of(token)) {
            if (choice == choices::none) continue;
            const auto expert = static_cast<std::size_t>(choice);
            sent.count(expert, 0);
            if (std::exchange(last[expert], token + 1) != token + 1) continue;
            // The output has room for only one row for each pair of a token and an expert.
            ucs::log::error(
                moe_log, "token {} chose expert {} twice: give each of its experts once, or none",
                token, expert);
            return UCS_ERR_INVALID_PARAM;
        }
    }
    sent.open();
    std::vector<std::uint32_t> next(group->experts());
    for (std::uint32_t expert = 0; expert < group->experts(); ++expert)
        if (expert % group->local_experts() != 0)
            next[expert] = next[expert - 1] + sent.size(expert - 1, 0);
    row_in_message.resize(std::size_t{chosen.tokens()} * chosen.k());
    for (std::uint32_t token = 0; token < chosen.tokens(); ++token) {
        for (std::uint32_t j = 0; j < chosen.k(); ++j) {
            if (chosen.experts_of(token)[j] == choices::none) continue;
            const auto expert = static_cast<std::size_t>(chosen.experts_of(token)[j]);
            sent.add(expert, 0, token);
            row_in_message[std::size_t{token} * chosen.k() + j] = next[expert]++;
        }
    }
    sent.close();
    return UCS_OK;
}

slots::slots(std::shared_ptr<const slot_plan> for_plan)
    : plan(std::move(for_plan)),
      ranges(std::size_t{plan->group->local_experts()} * plan->group->ranks()),
      counts(plan->group->local_experts()) {}

std::uint32_t slots::rows_from(rank_t rank) const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t e = 0; e < plan->group->local_experts(); ++e)
        sum += range_of(e, rank).count;
    return sum;
}

}  // namespace ucg::moe
