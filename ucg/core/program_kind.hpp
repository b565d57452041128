// The operations of groups other than collectives.
#pragma once

#include <cstdint>

namespace ucg {

// Part of the signature that ranks compare, so the numbers must not change.
enum class program_kind : std::uint32_t {
    moe_notify,
    moe_notify_dispatch,
    moe_dispatch,
    moe_combine,
    moe_low_latency_dispatch,
    moe_low_latency_combine,
};

// Accepts any number, because it may come from another rank.
[[nodiscard]] constexpr const char* name(program_kind kind) noexcept {
    switch (kind) {
        case program_kind::moe_notify:
            return "moe_notify";
        case program_kind::moe_notify_dispatch:
            return "moe_notify_dispatch";
        case program_kind::moe_dispatch:
            return "moe_dispatch";
        case program_kind::moe_combine:
            return "moe_combine";
        case program_kind::moe_low_latency_dispatch:
            return "moe_low_latency_dispatch";
        case program_kind::moe_low_latency_combine:
            return "moe_low_latency_combine";
    }
    return "something that this version of the library does not know";
}

}  // namespace ucg
