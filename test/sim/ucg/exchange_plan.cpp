#include "test/sim/ucg/exchange_plan.hpp"

#include <fmt/format.h>

#include "test/sim/choices.hpp"

namespace group_sim {

namespace {

using sim_test::one_of;
using ucs::sys::random;
using kind = step_plan::kind;

// For low latency the experts of a token differ.
std::vector<std::int64_t> choose_experts(random& dice, const exchange_plan& plan,
                                         std::uint64_t bound, double nothing) {
    std::vector<std::int64_t> made(plan.gates.k, -1);
    for (std::int64_t& each : made) {
        if (dice.chance(nothing)) continue;
        const auto expert = static_cast<std::int64_t>(dice.below(bound));
        const bool is_taken = std::ranges::find(made, expert) != made.end();
        if (!plan.low_latency || !is_taken) each = expert;
    }
    return made;
}

void choose_gates(random& dice, exchange_plan& made, std::uint32_t ranks) {
    made.gates.k = static_cast<std::uint32_t>(dice.between(1, 6));
    made.gates.experts = static_cast<std::uint32_t>(ranks * dice.between(1, 3));
    made.hidden = one_of(dice, {1U, 8U, 33U, 128U, 640U});
    made.most_tokens =
        made.hidden >= 128 ? one_of(dice, {1U, 3U, 12U}) : one_of(dice, {1U, 5U, 40U});
    // Chooses among all experts, or among the first ones only.
    const std::uint64_t bound =
        dice.chance(0.7) ? made.gates.experts : dice.between(1, made.gates.experts);
    const double nothing = one_of(dice, {0.0, 0.2, 0.9});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::int64_t>& choices = made.gates.topk.emplace_back();
        const std::uint64_t tokens = dice.chance(0.2) ? 0 : dice.below(made.most_tokens + 1);
        for (std::uint64_t i = 0; i < tokens; ++i)
            std::ranges::copy(choose_experts(dice, made, bound, nothing),
                              std::back_inserter(choices));
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        made.arriving.push_back(made.gates.rows_of(rank));
        made.expanded.push_back(made.gates.expanded_rows(rank));
    }
    made.places = made.gates.places();
}

void choose_form(random& dice, const exchange_plan& in, step_plan& made) {
    made.seed = dice.next();
    made.type = one_of(dice, {UCG_TYPE_BF16, UCG_TYPE_FP16, UCG_TYPE_FP32});
    made.gap = dice.chance(0.3) ? 3 : 0;
    made.origins = dice.chance(0.5);
    if (in.low_latency) {
        if (made.operation != kind::combine || dice.chance(0.4)) return;
        if (in.hidden % 128 == 0 && dice.chance(0.5)) {
            made.flags = UCG_MOE_LOW_LATENCY_COMBINE_LOGFMT10;
            made.type = UCG_TYPE_BF16;
        } else {
            made.flags = UCG_MOE_LOW_LATENCY_COMBINE_ZERO_COPY;
            made.gap = 0;
        }
        return;
    }
    made.weights = dice.chance(0.5);
    made.alignment = one_of(dice, {0U, 0U, 1U, 4U});
    made.spare = dice.chance(0.3) ? 2 : 0;
    if (made.operation == kind::combine) {
        made.biases = static_cast<unsigned>(dice.below(3));
    } else {
        if (dice.chance(0.25)) made.type = UCG_TYPE_FP8_E4M3;
        if (dice.chance(0.5)) made.flags = UCG_MOE_DISPATCH_ZERO_PADDING;
        if (made.alignment != 0) made.origins = false;
    }
}

}  // namespace

exchange_plan exchange_plan::generate(random& dice, std::uint32_t ranks) {
    exchange_plan made;
    made.low_latency = dice.chance(0.4);
    choose_gates(dice, made, ranks);
    made.wide = dice.chance(0.5);
    made.route = one_of(dice, {UCG_MOE_ROUTE_CHOOSE, UCG_MOE_ROUTE_DIRECT, UCG_MOE_ROUTE_RELAYED});
    made.channels = one_of(dice, {0U, 1U, 2U, 7U});
    made.channel_tokens = one_of(dice, {0U, 1U, 1U, 4U});
    made.flags = static_cast<std::uint32_t>(dice.below(4));  // of ucg_moe_notify_flags
    made.releases_early = dice.chance(0.5);
    const std::uint64_t others = dice.between(0, 4);
    for (std::uint64_t i = 0; i <= others; ++i) {
        step_plan step;
        step.with_notify = i == 0 && !made.low_latency && dice.chance(0.4);
        if (i > 0)
            step.operation = dice.chance(0.5) ? kind::dispatch : kind::combine;
        else if (made.low_latency || step.with_notify)
            step.operation = kind::dispatch;
        choose_form(dice, made, step);
        made.steps.push_back(step);
    }
    return made;
}

std::string exchange_plan::text(const step_plan& step) const {
    constexpr const char* names[] = {"notify", "dispatch", "combine"};
    return fmt::format(
        "{}{}{} of exchange {}: {} experts, {} choices, {} tokens at most, {} x {}, route {}, {} "
        "channels of {} or more{}{}, {} biases, alignment {}, {} spare rows, gaps {}, flags {:#x}",
        low_latency ? "low-latency " : "", step.with_notify ? "notify and " : "",
        names[static_cast<std::size_t>(step.operation)], step.exchange, gates.experts, gates.k,
        most_tokens, hidden, ucg_type_name(step.type), static_cast<int>(route), channels,
        channel_tokens, step.weights ? ", weights" : "", step.origins ? ", origins" : "",
        step.biases, step.alignment, step.spare, step.gap, step.flags);
}

}  // namespace group_sim
