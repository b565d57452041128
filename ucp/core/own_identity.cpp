#include "ucp/core/own_identity.hpp"

#include <algorithm>

#include "ucp/core/worker.hpp"

namespace ucp {

own_identity::own_identity()
    : keys_(ucs::security::key_pair::random()), uid_(address::uid_of(keys_.public_half())) {}

std::optional<ucs::security::key> own_identity::agree(
    const ucs::security::public_key& other) noexcept {
    if (!last_agreement_ || last_agreement_->with != other)
        last_agreement_.emplace(agreement{other, keys_.agree(other)});
    return last_agreement_->key;
}

void own_identity::pack_addresses(const worker& owner) {
    address::worker_address made;
    made.identity = keys_.public_half();
    made.name = owner.params().name;
    const auto& resources = owner.owner().resources();
    if (std::any_of(resources.begin(), resources.end(),
                    [](const usable_resource& each) { return each.only_connects; })) {
        made.flags |= address::network_only_connects;
    }
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        if (owner.interfaces().at(i) == nullptr) continue;
        const uct::iface_attr& attr = owner.interfaces().at(i)->attr();
        if (!attr.reaches_peers()) continue;
        address::entry entry{resources[i].where.transport,
                             resources[i].where.device,
                             attr.reach,
                             static_cast<float>(attr.latency + owner.interfaces().extra_latency(i)),
                             static_cast<float>(attr.bandwidth),
                             static_cast<float>(attr.overhead),
                             std::vector<std::byte>(attr.address_length)};
        owner.interfaces().at(i)->pack_address(entry.iface_address);
        made.entries.push_back(std::move(entry));
    }
    full_address_ = address::pack(made, false);
    net_address_ = address::pack(made, true);
}

}  // namespace ucp
