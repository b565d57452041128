#include "uct/tcp/network_identity.hpp"

#include "ucs/sys/process.hpp"
#include "ucs/sys/uuid.hpp"

namespace uct::tcp {

std::uint64_t network_identity() noexcept {
    return ucs::sys::mix(ucs::sys::host_id() ^ ucs::sys::mix(ucs::sys::net_namespace()));
}

}  // namespace uct::tcp
