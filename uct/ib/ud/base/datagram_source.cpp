#include "uct/ib/ud/base/datagram_source.hpp"

#include <algorithm>
#include <cstring>

#include "uct/ib/base/device/path.hpp"

namespace uct::ud {
namespace {

constexpr std::size_t ipv4_header = 20;
constexpr std::size_t ipv4_source = 12;
constexpr std::size_t grh_source = 8;
constexpr auto ipv4_without_options = std::byte{0x45};

std::uint32_t version_of(std::byte first) noexcept {
    return std::to_integer<std::uint32_t>(first) >> 4U;
}

bool uses_ipv4(const ib::address& port) noexcept {
    ib::gid_entry own;
    own.gid = port.gid;
    return port.link == ib::gid_type::roce_v2 && own.is_ipv4();
}

}  // namespace

ib::raw_gid source_gid(std::span<const std::byte, wire::route_header> route_header,
                       const ib::address& receiver) noexcept {
    ib::raw_gid found{};
    if (uses_ipv4(receiver)) {
        const auto ipv4 = route_header.last<ipv4_header>();
        if (ipv4.front() != ipv4_without_options) return found;
        // An IPv4-mapped address.
        found[10] = found[11] = 0xff;
        std::memcpy(found.data() + 12, ipv4.data() + ipv4_source, 4);
    } else if (version_of(route_header.front()) == 6) {
        std::memcpy(found.data(), route_header.data() + grh_source, found.size());
    }
    return found;
}

bool datagram_source::may_be(const ib::address& port, std::uint32_t number) const noexcept {
    if (number != pair) return false;
    if (!ib::needs_route(port)) return port.lid == lid;
    return gid == ib::raw_gid{} || gid == port.gid;
}

std::size_t datagram_source_hash::operator()(const datagram_source& source) const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, source.gid.data(), sizeof halves);
    const std::uint64_t last = std::uint64_t{source.pair} << 16U | source.lid;
    using ucs::sys::siphash;
    return siphash(key_, last ^ siphash(key_, halves[0] ^ siphash(key_, halves[1])));
}

}  // namespace uct::ud
