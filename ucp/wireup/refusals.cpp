#include "ucp/wireup/refusals.hpp"

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/pairing.hpp"

namespace ucp::wireup {

namespace {

constexpr std::ptrdiff_t most_refused =
    64;  // workers at the same time, each over a lane of its own
// A worker that could not be refused within this time makes room for others.
constexpr ucs::time::nanoseconds time_to_refuse = 2 * ucs::time::second;

}  // namespace

// A temporary peer without queued messages goes at the end of the current progress.
peer* refusals::passing_peer(evidence from, const ucs::security::public_key& identity,
                             std::span<const std::byte> packed) {
    refused_list& refused = refused_peers_[from == evidence::proof ? 1 : 0];
    std::ptrdiff_t waiting = 0;
    peer* oldest = nullptr;
    for (peer& each : refused) {
        if (!each.dead() && each.identity().has_address(packed)) return &each;
        if (!each.is_held()) continue;
        if (oldest == nullptr) oldest = &each;
        ++waiting;
    }
    const ucs::time::nanoseconds now = ucs::time::now();
    if (waiting >= most_refused) {
        if (now - oldest->refused_since < time_to_refuse) return nullptr;
        const peer_use kept(*oldest);
        oldest->control().drop_waiting();
    }
    peer& made = owner_.peers().add_passing(identity, packed);
    made.refused_since = now;
    refused.push_back(made);
    return &made;
}

void refusals::refuse(evidence from, const wire::wireup_header& unwanted,
                      std::span<const std::byte> address, wire::end_reason reason) {
    const auto parsed = address::parse(address, &owner_.log().rejected());
    if (!parsed || parsed->uid() != unwanted.uid) return;
    // If a peer of the program has no lanes yet, none are made for a refusal.
    peer* const known = owner_.peers().find(parsed->identity);
    const bool has_lanes = known != nullptr && known->lanes().is_open();
    peer* const to = has_lanes ? known : passing_peer(from, parsed->identity, address);
    if (to == nullptr || !to->control().has_room_for_strangers()) {
        dropped_.warn(wireup_log,
                      "a request of worker {:x} is not answered: the limit of {} is reached",
                      unwanted.uid, to == nullptr ? "refused workers" : "waiting refusals to it");
        return;
    }
    const peer_use kept(*to);
    if (unwanted.type == wire::wireup_type::pair) {
        slot_of<pairing>(*to).refuse(unwanted);
        return;
    }
    if (slot_of<lane_setup>(*to).connect(pairs::excluded) == UCS_OK)
        send_refusal(*to, unwanted, reason);
}

}  // namespace ucp::wireup
