// One exchange of a mixture of experts on a described machine.
#pragma once

#include "ucg/moe/settings.hpp"
#include "ucg/sim/experiment.hpp"

namespace ucg::sim {

// `ll`: low latency.
enum class exchange : std::uint8_t {
    moe_notify,
    moe_dispatch,
    moe_combine,
    moe_ll_dispatch,
    moe_ll_combine
};
inline constexpr std::size_t exchange_count = 5;
[[nodiscard]] constexpr bool is_low_latency(exchange which) noexcept {
    return which == exchange::moe_ll_dispatch || which == exchange::moe_ll_combine;
}
[[nodiscard]] const char* name(exchange which) noexcept;

// Tokens choose different experts by chance, each as likely.
struct moe_experiment {
    exchange what = exchange::moe_dispatch;
    std::uint32_t tokens = 128;           // of each rank
    std::uint32_t k = 8;                  // choices of a token
    std::uint32_t experts = 8;            // of each rank
    double row_bytes = 14336;             // of a token; rounded up to elements of 2 bytes
    moe::route how = moe::route::choose;  // low latency has but one
    std::uint64_t seed = 1;
};

struct moe_outcome {
    outcome found;
    // Seconds: what the choice of routes goes by, of the rank with the most. 0: of notify and
    // low latency, as are the numbers below.
    double predicted = 0;
    std::uint32_t relayed = 0, direct = 0;  // pairs of a rank and another node, by route
};

// Runs it, and before it what it needs, which is not counted: notify, or the low-latency dispatch.
// UCS_ERR_INVALID_PARAM: more choices than experts, or nothing to send. UCS_ERR_NO_MEMORY.
[[nodiscard]] ucs::result<moe_outcome> measure(const machine& on, const moe_experiment& what);

}  // namespace ucg::sim
