#include "uct/ib/rc/base/wire.hpp"

#include <infiniband/verbs.h>

#include "ucs/wire/codec.hpp"

namespace uct::rc::wire {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint32_t most = (1U << 24) - 1;

struct packed {
    std::uint32_t qp_number;
    std::uint32_t first_packet;
    std::uint32_t ece_vendor;
    std::uint32_t ece_options;
    std::uint32_t ece_mask;
    std::uint8_t version;
    std::uint8_t mtu;
    std::uint16_t pad;
};
static_assert(sizeof(packed) == connection_data::size);

}  // namespace

void connection_data::pack(std::span<std::byte> into) const noexcept {
    ucs::wire::writer(into).put(
        packed{qp_number, first_packet, ece_vendor, ece_options, ece_mask, version, mtu, 0});
}

std::optional<connection_data> connection_data::parse(std::span<const std::byte> from) noexcept {
    const auto packed_form = ucs::wire::read<packed>(from);
    if (!packed_form) return std::nullopt;
    const packed& read = *packed_form;
    const bool good = read.version == version && read.pad == 0 && read.qp_number <= most &&
                      read.first_packet <= most && read.mtu >= IBV_MTU_256 &&
                      read.mtu <= IBV_MTU_4096;
    if (!good) return std::nullopt;
    return connection_data{read.qp_number,   read.first_packet, read.ece_vendor,
                           read.ece_options, read.ece_mask,     read.mtu};
}

}  // namespace uct::rc::wire
