// Names in an address: well-known ones, transmitted as one byte, and the characters of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ucp::address {

// The numbers are part of the wire format: names are appended, never moved. Number 0 means no name.
// The functions have no state; any thread.
class dictionary {
public:
    // Returns the number of a name, or 0 if the name has none.
    [[nodiscard]] static std::uint8_t transport_number(std::string_view name) noexcept;
    [[nodiscard]] static std::uint8_t device_number(std::string_view name) noexcept;

    // Returns the name of a number, or an empty text if the number has none.
    [[nodiscard]] static std::string_view transport_name(std::uint8_t number) noexcept;
    [[nodiscard]] static std::string_view device_name(std::uint8_t number) noexcept;
};

// Control characters may not stand in any name of an address.
[[nodiscard]] constexpr bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Names of transports and devices have no blanks and no characters beyond ASCII, either.
[[nodiscard]] constexpr bool is_resource_name(std::string_view name) noexcept {
    return std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace ucp::address
