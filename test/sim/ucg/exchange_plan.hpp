// Tokens that ranks of a group send to experts, and get back: what a seed says of it.
#pragma once

#include <ucg/api/ucg_moe.h>

#include <cstdint>
#include <string>
#include <vector>

#include "test/support/moe_gating.hpp"
#include "uct/sim/random.hpp"

namespace group_sim {

// One operation of an exchange. The first makes what the others need.
struct step_plan {
    enum class kind : std::uint8_t { notify, dispatch, combine };
    kind what = kind::notify;
    std::size_t exchange = 0, number = 0;  // the number of the step
    std::uint64_t seed = 0;                // of its data
    bool with_notify = false;              // a dispatch that is told nothing before
    ucg_type_t type = UCG_TYPE_BF16;
    bool weights = false;
    bool origins = false;  // which experts, or of low latency which tokens, is told
    unsigned biases = 0;
    std::uint32_t alignment = 0;  // 0: a row for each token
    std::uint32_t spare = 0;      // rows of outputs
    std::uint32_t gap = 0;        // elements behind rows
    std::uint32_t flags = 0;      // of the struct of arguments
};

// A choice of experts. Ranks are those of the group.
struct exchange_plan {
    std::size_t group = 0;
    bool low_latency = false;
    test::moe::gating gates;
    std::vector<std::vector<test::moe::row>> arriving;  // at each rank, in order
    std::vector<std::vector<std::uint32_t>> places;     // of each rank's choices at their experts
    std::uint32_t most_tokens = 1;                      // of a rank
    std::uint32_t hidden = 1;
    bool wide = false;  // choices are int64
    ucg_moe_route_t route = UCG_MOE_ROUTE_CHOOSE;
    std::uint32_t channels = 0, channel_tokens = 0;
    std::uint32_t flags = 0;  // of notify
    bool lets_go = false;     // of team and handles, as soon as the last request is made
    std::vector<step_plan> steps;

    [[nodiscard]] static exchange_plan of(uct::sim::random& dice, std::uint32_t ranks);
    // Whether others need what comes of it.
    [[nodiscard]] bool gives(const step_plan& step) const noexcept {
        const bool only_dispatch = low_latency && step.what == step_plan::kind::dispatch;
        return step.what == step_plan::kind::notify || step.with_notify || only_dispatch;
    }
    // Whether nothing is needed any more when the step's request is made.
    [[nodiscard]] bool ends_with(const step_plan& step) const noexcept {
        return lets_go && step.number + 1 == steps.size() && !gives(step);
    }
    [[nodiscard]] std::string text(const step_plan& step) const;
};

}  // namespace group_sim
