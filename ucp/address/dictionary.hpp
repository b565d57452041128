// Names of transports and devices that travel as one byte.
#pragma once

#include <cstdint>
#include <string_view>

namespace ucp::address {

// Numbers are part of the wire format: names are appended, never moved. Number 0 is no name. Pure,
// any thread.
class dictionary {
public:
    // Number of a name, 0 when it is not known.
    [[nodiscard]] static std::uint8_t transport_number(std::string_view name) noexcept;
    [[nodiscard]] static std::uint8_t device_number(std::string_view name) noexcept;

    // Name of a number, empty when it is not known.
    [[nodiscard]] static std::string_view transport_name(std::uint8_t number) noexcept;
    [[nodiscard]] static std::string_view device_name(std::uint8_t number) noexcept;
};

}  // namespace ucp::address
