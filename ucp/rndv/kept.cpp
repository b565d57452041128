#include "ucp/rndv/kept.hpp"

#include "ucp/core/peer.hpp"
#include "ucp/rndv/receiver.hpp"

namespace ucp {

kept_operations::~kept_operations() {
    exposed_.clear_and_dispose([](exposed_buffer* each) { delete each; });
}

void kept_operations::keep_exposed(std::unique_ptr<exposed_buffer> still_used) noexcept {
    if (!peer_.dead()) exposed_.push_back(*still_used.release());
}

void kept_operations::release_exposed(std::uint64_t send) noexcept {
    exposed_.remove_and_dispose_if([send](const exposed_buffer& each) { return each.send == send; },
                                   [](exposed_buffer* each) { delete each; });
}

void kept_operations::keep(request& receive) noexcept {
    peer_.hold();
    receives_.push_back(receive);
    receive.state.recv.holds = &peer_;
}

void kept_operations::let_go(request& receive) noexcept {
    receives_.erase(receives_.iterator_to(receive));
    receive.state.recv.holds = nullptr;
    peer_.release();
}

void kept_operations::end_receives() {
    while (!receives_.empty()) {
        request& receive = receives_.front();
        let_go(receive);
        rndv_abandon(receive);
    }
}

}  // namespace ucp
