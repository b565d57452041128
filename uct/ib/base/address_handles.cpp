#include "uct/ib/base/address_handles.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucs/sys/uuid.hpp"

namespace uct::ib {

std::size_t address_handles::hash::operator()(const key& of) const noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, of.gid.data(), sizeof halves);
    return ucs::sys::mix(halves[0] ^ ucs::sys::mix(halves[1] ^ of.lid));
}

ucs::result<std::shared_ptr<ibv_ah>> address_handles::get(const address& peer) {
    const key wanted{peer.gid, peer.lid};
    if (const auto known = handles_.find(wanted); known != handles_.end()) return known->second;
    ibv_ah_attr way = way_to(peer, from_);
    address_handle made(ibv_create_ah(&domain_.pd(), &way));
    if (made == nullptr) return errno == ENOMEM ? UCS_ERR_NO_MEMORY : UCS_ERR_UNREACHABLE;
    drop_unused();
    return handles_.emplace(wanted, std::shared_ptr<ibv_ah>(std::move(made))).first->second;
}

void address_handles::drop_unused() noexcept {
    const auto unused = [](const auto& each) { return each.second.use_count() == 1; };
    const auto count = std::count_if(handles_.begin(), handles_.end(), unused);
    if (static_cast<std::size_t>(count) >= most_unused) std::erase_if(handles_, unused);
}

}  // namespace uct::ib
