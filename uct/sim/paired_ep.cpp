#include "uct/sim/paired_ep.hpp"

namespace uct::sim {

ucs_status_t paired_ep::connect_to(std::span<const std::byte> data) {
    const ucs_status_t status = fabric_.bind(link_, data);
    if (status == UCS_ERR_INVALID_ADDR) {
        ucs::log::error(uct_log, "{}/{}: the connection data of {} is malformed",
                        iface_.where().transport, iface_.where().device, peer_name());
    }
    return status;
}

}  // namespace uct::sim
