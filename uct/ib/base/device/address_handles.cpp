#include "uct/ib/base/device/address_handles.hpp"

#include <cerrno>
#include <cstring>

namespace uct::ib {

std::size_t address_handles::hash::operator()(const key& hashed) const noexcept {
    using ucs::sys::siphash;
    std::uint64_t halves[2];
    std::memcpy(halves, hashed.gid.data(), sizeof halves);
    return siphash(secret, halves[0] ^ siphash(secret, halves[1] ^ hashed.lid));
}

ucs::result<std::shared_ptr<ibv_ah>> address_handles::get(const address& peer,
                                                          const send_credits& sends) {
    const key wanted = needs_route(peer) ? key{.gid = peer.gid} : key{.lid = peer.lid};
    if (const auto known = handles_.find(wanted); known != handles_.end()) {
        known->second.unused_since.reset();
        return known->second.handle;
    }
    ibv_ah_attr handle = address_vector_to(peer, from_);
    address_handle made(ibv_create_ah(&domain_.pd(), &handle));
    if (made == nullptr) return errno == ENOMEM ? UCS_ERR_NO_MEMORY : UCS_ERR_UNREACHABLE;
    drop_unused(sends);
    return handles_.emplace(wanted, entry{std::shared_ptr<ibv_ah>(std::move(made))})
        .first->second.handle;
}

void address_handles::drop_unused(const send_credits& sends) noexcept {
    std::size_t count = 0;
    for (auto& [place, each] : handles_) {
        if (each.handle.use_count() > 1) continue;
        ++count;
        if (!each.unused_since) each.unused_since = sends.newest();
    }
    if (count < most_unused) return;
    std::erase_if(handles_, [&](const auto& each) {
        return each.second.unused_since && sends.is_complete(*each.second.unused_since);
    });
}

}  // namespace uct::ib
