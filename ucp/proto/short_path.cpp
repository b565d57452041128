#include "ucp/proto/short_path.hpp"

#include "ucp/core/peer.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/wireup/lane_setup.hpp"

namespace ucp {

short_path::short_path(ep& endpoint) noexcept
    : window_(&slot_of<eager_credits>(endpoint.remote()).window()) {}

void short_path::on_window_spent(ep& sender) {
    slot_of<eager_credits>(sender.remote()).on_window_spent(sender);
}

void short_path::take_protocols(const ep& endpoint) noexcept {
    protocols_ = slot_of<wireup::lane_setup>(endpoint.remote()).protocols();
}

void short_path::open(const ep& endpoint) noexcept {
    const bool is_closed =
        window_->uses_rendezvous() || !slot_of<deferred_sends>(endpoint.remote()).empty();
    end_ = is_closed ? 0 : static_cast<std::size_t>(protocols_->max_short() + 1);
}

void short_path::update(const ep& endpoint) noexcept {
    // An endpoint that never became ready has a lane only to reply.
    const bool sends = endpoint.is_connected() && protocols_ != nullptr;
    if (sends && endpoint.failure() == UCS_OK && !endpoint.operations().is_starting) open(endpoint);
}

void short_path::refresh(const ep& endpoint) noexcept {
    if (!endpoint.is_connected() || endpoint.failure() != UCS_OK) return;
    take_protocols(endpoint);
    open(endpoint);
}

void short_path::move_to(peer& to) noexcept {
    window_ = &slot_of<eager_credits>(to).window();
}

void update_short_paths(peer& to) noexcept {
    for (ep& each : to.endpoints())
        slot_of<short_path>(each).update(each);
}

}  // namespace ucp
