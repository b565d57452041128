#include "ucs/net/network_identity.hpp"

#include "ucs/random/random_bytes.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/sys/process.hpp"

namespace ucs::net {

std::uint64_t network_identity() noexcept {
    return sys::mix(sys::host_id() ^ sys::mix(sys::net_namespace()));
}

}  // namespace ucs::net
