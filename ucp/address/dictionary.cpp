#include "ucp/address/dictionary.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace ucp::address {

namespace {

// Append only. The number has six bits, so there are at most 63 transports.
constexpr std::array<std::string_view, 14> transports = {
    "self", "posix",    "sysv",     "cma",       "xpmem",    "knem",   "tcp",
    "sim",  "rc_verbs", "ud_verbs", "cuda_copy", "cuda_ipc", "rdmacm", "shm",
};
constexpr std::array<std::string_view, 17> devices = {
    "memory", "lo",   "eth0",     "eth1",     "eth2",     "eth3",     "ib0",  "ib1",      "bond0",
    "ens3",   "ens5", "mlx5_0:1", "mlx5_1:1", "mlx5_2:1", "mlx5_3:1", "cuda", "sockaddr",
};
static_assert(transports.size() < 64 && devices.size() < 256);

std::uint8_t number_of(std::span<const std::string_view> names, std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<std::uint8_t>(i + 1);
    }
    return 0;
}

std::string_view name_of(std::span<const std::string_view> names, std::uint8_t number) noexcept {
    return number == 0 || number > names.size() ? std::string_view{} : names[number - 1U];
}

}  // namespace

std::uint8_t dictionary::transport_number(std::string_view name) noexcept {
    return number_of(transports, name);
}

std::uint8_t dictionary::device_number(std::string_view name) noexcept {
    return number_of(devices, name);
}

std::string_view dictionary::transport_name(std::uint8_t number) noexcept {
    return name_of(transports, number);
}

std::string_view dictionary::device_name(std::uint8_t number) noexcept {
    return name_of(devices, number);
}

}  // namespace ucp::address
