// Addresses of PCI devices.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ucs::topology {

// domain:bus:device.function, in hexadecimal: 0000:17:00.1.
struct pci_address {
    std::uint32_t domain = 0;
    std::uint8_t bus = 0;
    std::uint8_t device = 0;
    std::uint8_t function = 0;

    auto operator<=>(const pci_address&) const = default;

    // Parses an address, whose domain may be missing.
    [[nodiscard]] static std::optional<pci_address> parse(std::string_view text) noexcept;
    [[nodiscard]] std::string text() const;
};

}  // namespace ucs::topology
