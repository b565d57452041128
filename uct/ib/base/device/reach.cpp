#include "uct/ib/base/device/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace uct::ib {
namespace {

// Limits the cache, because a peer may come and go with ever new addresses.
constexpr std::size_t most_known = 4096;

bool same_partition(std::uint16_t a, std::uint16_t b) noexcept {
    return ((a ^ b) & 0x7fff) == 0 && ((a | b) & full_member) != 0;
}

}  // namespace

std::string reason_apart(const address& own, const address& peer) {
    if (peer.link != own.link) {
        return fmt::format("its port is {}, and this one {}", name(peer.link), name(own.link));
    }
    if (!same_partition(peer.pkey, own.pkey)) {
        return fmt::format("its partition is {:#x}, and this one's {:#x}", peer.pkey, own.pkey);
    }
    if (own.link == gid_type::infiniband) {
        const auto prefix = [](const raw_gid& gid) { return std::span(gid).first<8>(); };
        const bool same = std::ranges::equal(prefix(peer.gid), prefix(own.gid));
        return same ? "" : "it is in another InfiniBand subnet";
    }
    gid_entry ours, peer_gid;
    ours.gid = own.gid;
    peer_gid.gid = peer.gid;
    if (peer_gid.is_ipv4() != ours.is_ipv4()) {
        return fmt::format("its address {} is of another family than {}", peer_gid.text(),
                           ours.text());
    }
    return {};
}

std::string reach::why_not(const gid_entry& peer) {
    if (known_.contains(peer.gid)) return {};
    const ucs::net::ip_address source = own_.address();
    gid_entry target = peer;
    target.interface_index = own_.interface_index;  // scope of link-local addresses
    const ucs::net::ip_address to = target.address();
    if (source.is_link_local() != to.is_link_local()) {
        const bool is_peer_link_local = to.is_link_local();
        return fmt::format("{} is link-local and {} is not",
                           (is_peer_link_local ? to : source).text(),
                           (is_peer_link_local ? source : to).text());
    }
    const ucs::net::route found = routes_.find(source, to, own_.interface_index);
    if (found.type == ucs::net::route::kind::none) {
        return fmt::format("there is no route from {} to {} over its network interface: {}",
                           source.text(), to.text(), found.error);
    }
    if (found.type == ucs::net::route::kind::unknown) return {};
    if (known_.size() >= most_known) known_.clear();
    known_.insert(peer.gid);
    return {};
}

}  // namespace uct::ib
