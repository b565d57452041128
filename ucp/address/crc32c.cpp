#include "ucp/address/crc32c.hpp"

#include <array>

#include "ucp/address/wire.hpp"

namespace ucp::address {

namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli, lowest bit first

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t remainder = i;
        for (int bit = 0; bit < 8; ++bit)
            remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? polynomial : 0);
        table[i] = remainder;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
    std::uint32_t crc = ~previous;
    for (const std::byte byte : bytes)
        crc = (crc >> 8) ^ table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
    return ~crc;
}

std::uint32_t wire::checksum(std::span<const std::byte> address) noexcept {
    return crc32c(address.subspan(header_size), crc32c(address.first(crc_at)));
}

}  // namespace ucp::address
