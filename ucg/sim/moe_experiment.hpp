// Runs one exchange of a mixture of experts on a simulated machine.
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
[[nodiscard]] constexpr bool is_low_latency(exchange kind) noexcept {
    return kind == exchange::moe_ll_dispatch || kind == exchange::moe_ll_combine;
}
[[nodiscard]] const char* name(exchange kind) noexcept;

// Each token chooses `k` different experts at random with equal probability.
struct moe_experiment {
    exchange kind = exchange::moe_dispatch;
    std::uint32_t tokens = 128;             // of each rank
    std::uint32_t k = 8;                    // experts that a token chooses
    std::uint32_t experts = 8;              // of each rank
    double row_bytes = 14336;               // of a token, rounded up to elements of 2 bytes
    moe::route route = moe::route::choose;  // ignored for low latency, which has one route
    std::uint64_t seed = 1;
};

struct moe_outcome {
    sim::outcome outcome;
    // Seconds that the cost model of the routes predicts, for the rank with the highest value. 0
    // for notify and low latency, as are the counts below.
    double predicted = 0;
    std::uint32_t relayed = 0, direct = 0;  // pairs of a rank and a remote node, by route
};

// Runs the experiment. Its preparation (notify, or the low-latency dispatch) runs before and is not
// measured. UCS_ERR_INVALID_PARAM: more choices than experts, or nothing to send.
// UCS_ERR_NO_MEMORY.
[[nodiscard]] ucs::result<moe_outcome> measure(const machine& spec, const moe_experiment& setup);

// Carries out measure() for these two exchanges. The caller has validated `setup`. Throws
// std::bad_alloc.
[[nodiscard]] ucs::result<moe_outcome> measure_low_latency(const machine& spec,
                                                           const moe_experiment& setup);

}  // namespace ucg::sim
