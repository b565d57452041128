// State of the memory lane to a peer: used, or the reason why not.
#pragma once

#include <cstdint>

namespace ucp {

enum class rma_state : std::uint8_t {
    usable,
    no_endpoint,
    // temporary: the peer has not shown yet that it is the process that its address names
    process_not_shown,
    refused,
    endpoint_failed,
};

// The reason why the lane is not used, as text.
[[nodiscard]] constexpr const char* text_of(rma_state state) noexcept {
    switch (state) {
        case rma_state::usable:
            break;
        case rma_state::no_endpoint:
            return "its endpoint could not be made";
        case rma_state::process_not_shown:
            return "it has not shown yet that it is the process that its address names";
        case rma_state::refused:
            return "the system refused access to the peer's memory";
        case rma_state::endpoint_failed:
            return "its endpoint failed";
    }
    return "";
}

}  // namespace ucp
