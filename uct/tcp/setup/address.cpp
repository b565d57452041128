#include "uct/tcp/setup/address.hpp"

#include <algorithm>

#include "ucs/wire/codec.hpp"

namespace uct::tcp {

namespace {

constexpr std::uint8_t version = 2;
constexpr std::uint8_t has_v4 = 1;
constexpr std::uint8_t has_v6 = 2;
constexpr std::uint8_t is_loopback = 4;
constexpr std::size_t fixed_size = 36;

listen_point read_v4(ucs::wire::reader& from, std::uint8_t prefix) noexcept {
    listen_point point;
    point.port = from.get<std::uint16_t>();
    point.prefix = prefix;
    const auto bytes = from.bytes(4);
    if (from.ok()) point.ip = ip_address::v4(bytes.first<4>());
    return point;
}

listen_point read_v6(ucs::wire::reader& from, std::uint8_t prefix, std::uint32_t scope) noexcept {
    listen_point point;
    point.port = from.get<std::uint16_t>();
    point.prefix = prefix;
    const auto bytes = from.bytes(16);
    if (from.ok()) point.ip = ip_address::v6(bytes.first<16>(), scope);
    return point;
}

bool usable(const listen_point& point, unsigned max_prefix) noexcept {
    return point.ip.is_none() || (point.port != 0 && point.prefix <= max_prefix);
}

}  // namespace

std::size_t address::packed_size() const noexcept {
    return fixed_size + (v4.ip.is_none() ? 0 : 6U) + (v6.ip.is_none() ? 0 : 18U);
}

void address::pack(std::span<std::byte> into) const noexcept {
    unsigned flags = loopback ? is_loopback : 0U;
    if (!v4.ip.is_none()) flags |= has_v4;
    if (!v6.ip.is_none()) flags |= has_v6;
    ucs::wire::writer out(into);
    out.put(version).put(static_cast<std::uint8_t>(flags)).put(v4.prefix).put(v6.prefix);
    out.put(iface_id).put(network_id).put_bytes(secret);
    for (const listen_point* point : {&v4, &v6}) {
        if (!point->ip.is_none()) out.put(point->port).put_bytes(point->ip.bytes());
    }
}

std::optional<address> address::parse(std::span<const std::byte> from,
                                      std::uint32_t scope) noexcept {
    ucs::wire::reader in(from);
    const auto its_version = in.get<std::uint8_t>();
    const auto flags = in.get<std::uint8_t>();
    const auto prefix4 = in.get<std::uint8_t>();
    const auto prefix6 = in.get<std::uint8_t>();
    address parsed;
    parsed.iface_id = in.get<std::uint64_t>();
    parsed.network_id = in.get<std::uint64_t>();
    const auto secret = in.bytes(parsed.secret.size());
    std::copy(secret.begin(), secret.end(), parsed.secret.begin());
    parsed.loopback = (flags & is_loopback) != 0;
    if ((flags & has_v4) != 0) parsed.v4 = read_v4(in, prefix4);
    if ((flags & has_v6) != 0) parsed.v6 = read_v6(in, prefix6, scope);

    const bool known = its_version == version && (flags & ~7U) == 0 && (flags & 3U) != 0;
    if (!known || !in.is_complete() || parsed.iface_id == 0) return std::nullopt;
    if (!usable(parsed.v4, 32) || !usable(parsed.v6, 128)) return std::nullopt;
    return parsed;
}

}  // namespace uct::tcp
