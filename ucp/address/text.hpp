// Characters that are allowed in the names of an address.
#pragma once

#include <algorithm>
#include <string_view>

namespace ucp::address {

[[nodiscard]] constexpr bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

[[nodiscard]] constexpr bool is_resource_name(std::string_view name) noexcept {
    return std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace ucp::address
