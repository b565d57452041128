// The tests of transports.
#pragma once

#include <functional>

#include "tools/perf/uct/am_channel.hpp"

namespace tools::perf {

[[nodiscard]] std::span<const test_row> transport_message_tests() noexcept;
[[nodiscard]] std::span<const test_row> transport_memory_tests() noexcept;
[[nodiscard]] std::span<const test_row> transport_atomic_tests() noexcept;

// Throws usage_error for unsupported options, and not_offered for features that this machine or the
// transport does not have. `find_mistake` returns the reason why the interface cannot run the test,
// or an empty text.
void check_transport_test(
    const test_params& params,
    const std::function<std::string(const uct::iface_attr& attr)>& find_mistake,
    bool takes_header = false);

// Makes a test whose constructor's last argument is the most operations in flight.
template<class Test, unsigned window, auto... more>
[[nodiscard]] std::unique_ptr<workload> make_windowed(const transport_connection& conn) {
    return std::make_unique<Test>(conn, more...,
                                  conn.params.outstanding == 0 ? window : conn.params.outstanding);
}

// Returns the name of the layout for the output, as in -D: "short".
[[nodiscard]] std::string layout_name(const test_params& params);

}  // namespace tools::perf
