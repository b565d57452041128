#include "uct/ib/base/reach.hpp"

#include <fmt/format.h>

namespace uct::ib {
namespace {

// A peer that comes and goes under ever new addresses must not fill the memory.
constexpr std::size_t most_known = 4096;

}  // namespace

std::string reach::why_not(const gid_entry& peer) {
    if (known_.contains(peer.gid)) return {};
    const ucs::net::ip_address source = own_.address();
    gid_entry target = peer;
    target.interface_index = own_.interface_index;  // where link-local addresses are looked for
    const ucs::net::ip_address to = target.address();
    if (source.is_link_local() != to.is_link_local()) {
        const bool theirs = to.is_link_local();
        return fmt::format("{} is link-local and {} is not", (theirs ? to : source).text(),
                           (theirs ? source : to).text());
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
