// Which operation of the transport layer a test uses, and whether a transport has it.
#pragma once

#include "tools/perf/core/test_params.hpp"
#include "uct/api/iface.hpp"

namespace tools::perf {

// -D, or what the test does otherwise.
[[nodiscard]] inline send_operation operation_of(const test_params& params,
                                                 send_operation usual) noexcept {
    return params.operation.value_or(usual);
}

// Bytes of a message that are header: 8 in a short one, otherwise -H.
[[nodiscard]] std::size_t header_of(const test_params& params) noexcept;

// "am_short", as the transport layer calls it.
[[nodiscard]] const char* name_of(send_operation operation) noexcept;

// What a test does with the peer's memory.
enum class remote_access : std::uint8_t { put, get };

// The operation of that layout (-D, otherwise zcopy); nothing: no transport has it.
[[nodiscard]] std::optional<uct::op> operation_of(const test_params& params,
                                                  remote_access how) noexcept;
[[nodiscard]] const char* name_of(uct::op operation) noexcept;

// Pure. Each returns what is wrong with the test for an interface that can do this, or an empty
// text.
[[nodiscard]] std::string mistake_in_messages(const test_params& params,
                                              const uct::iface_attr& attr);
[[nodiscard]] std::string mistake_in_memory_access(const test_params& params, remote_access how,
                                                   const uct::iface_attr& attr);
[[nodiscard]] std::string mistake_in_atomic(const test_params& params, uct::atomic_kind what,
                                            bool fetches, const uct::iface_attr& attr);

}  // namespace tools::perf
