// Well-known names of transports and devices, transmitted as one byte.
#pragma once

#include <cstdint>
#include <string_view>

namespace ucp::address {

// The numbers are part of the wire format: names are appended, never moved. Number 0 means no name.
// Pure, any thread.
class dictionary {
public:
    // Returns the number of a name, 0 if it is not known.
    [[nodiscard]] static std::uint8_t transport_number(std::string_view name) noexcept;
    [[nodiscard]] static std::uint8_t device_number(std::string_view name) noexcept;

    // Returns the name of a number, empty if it is not known.
    [[nodiscard]] static std::string_view transport_name(std::uint8_t number) noexcept;
    [[nodiscard]] static std::string_view device_name(std::uint8_t number) noexcept;
};

}  // namespace ucp::address
