// CRC-32C checksum of worker addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucp::address {

// Returns the CRC-32C (Castagnoli) of `bytes`. `previous` is the checksum of the preceding bytes, 0
// for none. Pure, any thread.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes,
                                   std::uint32_t previous = 0) noexcept;

}  // namespace ucp::address
