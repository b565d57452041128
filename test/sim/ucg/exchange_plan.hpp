// The plan of a MoE exchange, generated from a seed.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <string>

#include "test/support/moe_reference.hpp"
#include "ucs/random/seeded.hpp"

namespace group_sim {

// One operation of an exchange. The first makes the handles that the others need.
struct step_plan {
    enum class kind : std::uint8_t { notify, dispatch, combine };
    kind operation = kind::notify;
    std::size_t exchange = 0, number = 0;  // the number of the step
    std::uint64_t seed = 0;                // seed of the data
    bool with_notify = false;              // a dispatch that includes the notify
    ucg_type_t type = UCG_TYPE_BF16;
    bool weights = false;
    bool origins = false;  // outputs the experts (low latency: the tokens) of rows
    unsigned biases = 0;
    std::uint32_t alignment = 0;  // 0: a row for each token
    std::uint32_t spare = 0;      // spare rows of outputs
    std::uint32_t gap = 0;        // elements between rows
    std::uint32_t flags = 0;      // flags of the arguments
};

// A choice of experts. Ranks are ranks of the group.
struct exchange_plan {
    std::size_t group = 0;
    bool low_latency = false;
    test::moe::gating gates;
    std::vector<std::vector<test::moe::row>> arriving;           // rows of each rank, in order
    std::vector<std::vector<test::moe::expanded_row>> expanded;  // the same, a row for each choice
    std::vector<std::vector<std::uint32_t>> places;  // rows of each rank's choices at their
                                                     // experts
    std::uint32_t most_tokens = 1;                   // maximum of a rank
    std::uint32_t hidden = 1;
    bool wide = false;  // choices are int64
    ucg_moe_route_t route = UCG_MOE_ROUTE_CHOOSE;
    std::uint32_t channels = 0, channel_tokens = 0;
    std::uint32_t flags = 0;      // flags of notify
    bool releases_early = false;  // releases team and handles when the last request is made
    std::vector<step_plan> steps;

    [[nodiscard]] static exchange_plan generate(ucs::sys::random& dice, std::uint32_t ranks);
    // True if other steps need the handle of this step.
    [[nodiscard]] bool is_needed_later(const step_plan& step) const noexcept {
        const bool only_dispatch = low_latency && step.operation == step_plan::kind::dispatch;
        return step.operation == step_plan::kind::notify || step.with_notify || only_dispatch;
    }
    // True if no handle is needed after the step's request is made.
    [[nodiscard]] bool ends_with(const step_plan& step) const noexcept {
        return releases_early && step.number + 1 == steps.size() && !is_needed_later(step);
    }
    [[nodiscard]] std::string text(const step_plan& step) const;
};

}  // namespace group_sim
