#include "uct/ib/base/device/path.hpp"

#include <cstring>

namespace uct::ib {
namespace {

constexpr std::uint8_t roce_traffic_class = 106;

}  // namespace

path_setup path_from(std::uint8_t port, std::uint16_t pkey_index, const gid_entry& gid,
                     const settings& options) noexcept {
    path_setup made;
    made.number = port;
    made.gid_index = static_cast<std::uint8_t>(gid.index);
    made.pkey_index = pkey_index;
    made.hop_limit = static_cast<std::uint8_t>(options.hop_limit);
    if (!options.service_level.is_auto()) {
        made.service_level = static_cast<std::uint8_t>(options.service_level.value);
    }
    if (!options.traffic_class.is_auto()) {
        made.traffic_class = static_cast<std::uint8_t>(options.traffic_class.value);
    } else if (gid.type == gid_type::roce_v2) {
        made.traffic_class = roce_traffic_class;
    }
    return made;
}

ibv_ah_attr address_vector_to(const address& peer, const path_setup& from) noexcept {
    ibv_ah_attr made{};
    made.port_num = from.number;
    made.sl = from.service_level;
    made.dlid = peer.lid;
    if (needs_route(peer)) {
        made.is_global = 1;
        std::memcpy(made.grh.dgid.raw, peer.gid.data(), peer.gid.size());
        made.grh.sgid_index = from.gid_index;
        made.grh.hop_limit = from.hop_limit;
        made.grh.traffic_class = from.traffic_class;
    }
    return made;
}

}  // namespace uct::ib
