#include "ucp/proto/lane_set.hpp"

#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/proto/tables.hpp"

namespace ucp {

lane_set lane_set_for(const peer& to, std::size_t length) noexcept {
    worker& owner = to.owner();
    return {&to.lanes().am_attr(),
            to.lanes().rma() != nullptr ? &to.lanes().rma_attr() : nullptr,
            &owner.owner().costs(),
            &owner.owner().options(),
            slot_of<protocol_tables>(owner).streaming.used(),
            to.lanes().rail_count() > 1 ? rails_bandwidth(to, length) : 0};
}

}  // namespace ucp
