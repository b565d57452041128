// Which network stack this process is in.
#pragma once

#include <cstdint>

namespace ucs::net {

// The same number for every process of one boot of one host in one network namespace, and almost
// surely another one elsewhere. Tells 127.0.0.1 (or a bridge address that every host has) here
// from the same address somewhere else. Any thread.
[[nodiscard]] std::uint64_t network_identity() noexcept;

}  // namespace ucs::net
