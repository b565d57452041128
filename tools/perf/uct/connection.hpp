// The objects of the transport layer that its tests use.
#pragma once

#include "tools/perf/core/pattern.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/uct/link.hpp"

namespace tools::perf {

// Not owned; outlives the workload. `exposed` is this side's memory that the peer may access.
struct transport_connection {
    transport_link& link;
    const test_params& params;
    side part;
    std::span<std::byte> exposed;
};

// The content of memory that a test writes or reads, depending on its writer.
[[nodiscard]] inline pattern memory_content(side writer) noexcept {
    return {writer == side::responder ? 1U : 0U, 0};
}

}  // namespace tools::perf
