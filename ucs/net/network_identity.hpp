// Identifies the network stack of this process.
#pragma once

#include <cstdint>

namespace ucs::net {

// Returns the same number in all processes of one boot of one host and one network namespace, and
// almost surely a different number elsewhere. It distinguishes 127.0.0.1 (or a bridge address that
// every host has) of this stack from the same address of another stack. Any thread.
[[nodiscard]] std::uint64_t network_identity() noexcept;

}  // namespace ucs::net
