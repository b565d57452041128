#include "ucs/topology/pci_address.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ucs::topology {
namespace {

// Parses a hexadecimal number of at most `digits` digits and its terminator `end`.
std::optional<std::uint32_t> take(std::string_view& text, std::size_t digits, char end) noexcept {
    std::size_t size = text.size();
    if (end != '\0') {
        size = text.find(end);
        if (size == text.npos) return std::nullopt;
    }
    if (size == 0 || size > digits) return std::nullopt;
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + size, value, 16);
    if (error != std::errc{} || stop != text.data() + size) return std::nullopt;
    text.remove_prefix(end == '\0' ? size : size + 1);
    return value;
}

}  // namespace

std::optional<pci_address> pci_address::parse(std::string_view text) noexcept {
    std::optional<std::uint32_t> domain = 0;
    if (text.find(':') != text.rfind(':')) domain = take(text, 8, ':');
    const auto bus = take(text, 2, ':');
    const auto device = take(text, 2, '.');
    const auto function = take(text, 1, '\0');
    if (!domain || !bus || !device || !function || *device > 31 || *function > 7) {
        return std::nullopt;
    }
    return pci_address{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                       static_cast<std::uint8_t>(*function)};
}

std::string pci_address::text() const {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

}  // namespace ucs::topology
