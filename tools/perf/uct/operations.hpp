// Selects the transport operation of a test, and checks whether a transport supports it.
#pragma once

#include "tools/perf/core/test_params.hpp"
#include "uct/api/iface.hpp"

namespace tools::perf {

// Returns the operation of -D, or the test's default.
[[nodiscard]] inline send_operation operation_of(const test_params& params,
                                                 send_operation usual) noexcept {
    return params.operation.value_or(usual);
}

// Returns the header bytes of a message: 8 in a short one, otherwise -H.
[[nodiscard]] std::size_t header_of(const test_params& params) noexcept;

// Returns the transport layer's name: "am_short".
[[nodiscard]] const char* name_of(send_operation operation) noexcept;

// The access of a test to the peer's memory.
enum class remote_access : std::uint8_t { put, get };

// Returns the operation of the layout -D (default zcopy); nullopt if no transport has it.
[[nodiscard]] std::optional<uct::op> operation_of(const test_params& params,
                                                  remote_access access) noexcept;
[[nodiscard]] const char* name_of(uct::op operation) noexcept;

// Each returns the reason why an interface with these attributes cannot run the test, or an empty
// text.
[[nodiscard]] std::string mistake_in_messages(const test_params& params,
                                              const uct::iface_attr& attr);
[[nodiscard]] std::string mistake_in_memory_access(const test_params& params, remote_access access,
                                                   const uct::iface_attr& attr);
[[nodiscard]] std::string mistake_in_atomic(const test_params& params, uct::atomic_kind kind,
                                            bool fetches, const uct::iface_attr& attr);

}  // namespace tools::perf
