#include "ucs/net/network_identity.hpp"

#include "ucs/sys/process.hpp"
#include "ucs/sys/random.hpp"

namespace ucs::net {

std::uint64_t network_identity() noexcept {
    return sys::mix(sys::host_id() ^ sys::mix(sys::net_namespace()));
}

}  // namespace ucs::net
