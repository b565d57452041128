#include "uct/ib/ud/base/datagram_source.hpp"

#include <algorithm>
#include <cstring>

namespace uct::ud {
namespace {

constexpr std::size_t ipv4_header = 20;
constexpr std::size_t ipv4_source = 12;
constexpr std::size_t grh_source = 8;
constexpr auto ipv4_without_options = std::byte{0x45};

std::uint32_t version_of(std::byte first) noexcept {
    return std::to_integer<std::uint32_t>(first) >> 4U;
}

// The checksum of an intact IPv4 header is zero (RFC 791).
bool is_intact(std::span<const std::byte> header) noexcept {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < header.size(); i += 2) {
        sum += std::to_integer<std::uint32_t>(header[i]) << 8U |
               std::to_integer<std::uint32_t>(header[i + 1]);
    }
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16U);
    return sum == 0xffff;
}

}  // namespace

ib::raw_gid source_gid(std::span<const std::byte, wire::route_header> route_header) noexcept {
    ib::raw_gid found{};
    const auto ipv4 = route_header.last<ipv4_header>();
    const bool may_be_ipv4 = ipv4.front() == ipv4_without_options;
    const bool may_be_grh = version_of(route_header.front()) == 6;
    if (may_be_ipv4 && (!may_be_grh || is_intact(ipv4))) {
        // An IPv4-mapped address.
        found[10] = found[11] = 0xff;
        std::memcpy(found.data() + 12, ipv4.data() + ipv4_source, 4);
    } else if (may_be_grh) {
        std::memcpy(found.data(), route_header.data() + grh_source, found.size());
    }
    return found;
}

bool datagram_source::may_be(const ib::address& port, std::uint32_t number) const noexcept {
    if (number != pair) return false;
    if (gid != ib::raw_gid{}) return port.gid == gid;
    return port.link != ib::gid_type::infiniband || port.lid == lid;
}

std::size_t datagram_source_hash::operator()(const datagram_source& source) const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, source.gid.data(), sizeof halves);
    const std::uint64_t last = std::uint64_t{source.pair} << 16U | source.lid;
    using ucs::sys::siphash;
    return siphash(key_, last ^ siphash(key_, halves[0] ^ siphash(key_, halves[1])));
}

}  // namespace uct::ud
