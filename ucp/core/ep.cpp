#include "ucp/core/ep.hpp"

#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"

namespace ucp {

ep::ep(worker& owner, peer& to, std::uint64_t number)
    : number_(number), owner_(owner), remote_(&to) {
    id_ = owner.endpoints().add(*this);
    to.endpoints().attach(*this);
    owner.log().count(activity::ep_creations);
}

ep::~ep() = default;

void ep::end() noexcept {
    publish(events::endpoint_ended{*this});
    remote_->endpoints().detach(*this);
}

void ep::set_remote(peer& to) noexcept {
    remote_->endpoints().detach(*this);
    remote_ = &to;
    to.endpoints().attach(*this);
}

}  // namespace ucp
