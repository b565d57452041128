// What groups do together beside collectives.
#pragma once

#include <cstdint>

namespace ucg {

// Part of what ranks compare (signature): numbers stay what they are.
enum class program_kind : std::uint32_t {
    moe_notify,
    moe_notify_dispatch,
    moe_dispatch,
    moe_combine,
    moe_low_latency_dispatch,
    moe_low_latency_combine,
};

// Also of a number that came from another rank, which may be anything.
[[nodiscard]] constexpr const char* name(program_kind which) noexcept {
    switch (which) {
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
