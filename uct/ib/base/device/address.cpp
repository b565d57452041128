#include "uct/ib/base/device/address.hpp"

#include "ucs/wire/codec.hpp"

namespace uct::ib {
namespace {

constexpr std::uint8_t version = 1;

struct packed {
    std::uint8_t version;
    std::uint8_t link;
    std::uint16_t lid;
    std::uint8_t mtu;
    std::uint8_t read_depth;
    std::uint16_t pkey;
    raw_gid gid;
    std::uint64_t iface_id;
};
static_assert(sizeof(packed) == address::size);

}  // namespace

void address::pack(std::span<std::byte> into) const noexcept {
    ucs::wire::writer(into).put(packed{version, static_cast<std::uint8_t>(link), lid, mtu,
                                       read_depth, pkey, gid, iface_id});
}

std::optional<address> address::parse(std::span<const std::byte> from) noexcept {
    const auto packed_form = ucs::wire::read<packed>(from);
    if (!packed_form) return std::nullopt;
    const packed& read = *packed_form;
    const bool good =
        read.version == version && read.link <= 2 && read.mtu >= IBV_MTU_256 &&
        read.mtu <= IBV_MTU_4096 && read.read_depth != 0 && read.iface_id != 0 &&
        (read.link == 0 ? read.lid != 0 || read.gid != raw_gid{} : read.gid != raw_gid{});
    if (!good) return std::nullopt;
    return address{static_cast<gid_type>(read.link),
                   read.lid,
                   read.mtu,
                   read.read_depth,
                   read.pkey,
                   read.gid,
                   read.iface_id};
}

}  // namespace uct::ib
