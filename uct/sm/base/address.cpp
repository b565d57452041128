#include "uct/sm/base/address.hpp"

#include "ucs/wire/codec.hpp"

namespace uct::sm {
namespace {

// Process ids are positive ints; the kernel gives other values a special meaning ("a group",
// "all").
constexpr std::uint32_t max_pid = 0x7fffffff;

template<class Address>
std::optional<Address> parse(std::span<const std::byte> from) {
    const auto address = ucs::wire::read<Address>(from);
    if (!address) return std::nullopt;
    bool zeros = true;
    for (const std::uint8_t byte : address->zero)
        zeros = zeros && byte == 0;
    const bool sane = address->pid > 0 && address->pid <= max_pid && address->host != 0;
    if (address->version != address_version || !zeros || !sane) return std::nullopt;
    return address;
}

}  // namespace

std::optional<posix_address> parse_posix_address(std::span<const std::byte> from) {
    auto address = parse<posix_address>(from);
    if (address && (address->flags & ~posix_address::may_sleep) != 0) return std::nullopt;
    return address;
}

std::optional<cma_address> parse_cma_address(std::span<const std::byte> from) {
    auto address = parse<cma_address>(from);
    if (address && (address->cookie_at == 0 || address->zero_tail != 0)) return std::nullopt;
    return address;
}

}  // namespace uct::sm
