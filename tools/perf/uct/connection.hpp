// What the tests of the transport layer work on.
#pragma once

#include <span>

#include "tools/perf/core/pattern.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/uct/link.hpp"

namespace tools::perf {

// Borrowed; outlives the workload. `landing` is this side's memory that the peer may access.
struct transport_connection {
    transport_link& over;
    const test_params& params;
    side part;
    std::span<std::byte> landing;
};

// Contents of memory that a test writes or reads, by who wrote it.
[[nodiscard]] inline pattern memory_content(side writer) noexcept {
    return {writer == side::responder ? 1U : 0U, 0};
}

}  // namespace tools::perf
