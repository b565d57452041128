// Limits of a worker on what peers cause: it ends surplus endpoints and lanes that peers made, and
// refuses messages for a worker that had this address before. Such messages cannot be proven to
// this worker, so any process may send any number of them.
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"

namespace ucp {

namespace {

constexpr std::ptrdiff_t most_refused =
    64;  // workers at the same time, each over a lane of its own
// A worker that could not be refused within this time makes room for others.
constexpr ucs::time::nanoseconds time_to_refuse = 2 * ucs::time::second;

// Ends the oldest of the peer's endpoints that the program has not asked for, or the lanes if there
// is none. If the peer object exists only because of the peer's requests and has no other endpoint,
// nothing of it stays.
void end_one_of(peer& ended) noexcept {
    const peer_use kept(ended);
    const auto is_uninvited = [](const ep& each) { return each.is_uninvited(); };
    const auto oldest = std::ranges::find_if(ended.endpoints(), is_uninvited);
    if (oldest != ended.endpoints().end()) oldest->end_for_limit();
    if (!ended.uninvited.is_stranger() || std::ranges::any_of(ended.endpoints(), is_uninvited))
        return;
    ended.uninvited.set_stranger(false);
    ended.pairing().handle(wireup::pairing_event::give_up);
    ended.control().drop_waiting();
}

}  // namespace

bool worker::may_have_one_more(const peer& asking) noexcept {
    const uninvited_peers::part& part = asking.uninvited;
    if (part.endpoints() < uninvited_.limits().most_of_one) return true;
    rejected_.warn(
        wireup_log,
        "worker {:x} exceeds the limit of endpoints: it has made {} here that the program "
        "has not asked for",
        asking.uid(), part.endpoints());
    return false;
}

void worker::make_room_for_endpoint(const peer& asking) noexcept {
    const uninvited_peers::part& part = asking.uninvited;
    if (part.endpoints() == part.weight()) make_room_for_uninvited();
}

void worker::make_room_for_uninvited() noexcept {
    if (uninvited_.is_full()) end_one_uninvited(false);
    if (uninvited_.is_full_if_scarce() && ucs::sys::are_descriptors_scarce())
        end_one_uninvited(true);
}

void worker::end_one_uninvited(bool only_with_descriptor) noexcept {
    uninvited_peers::part* const least =
        uninvited_.least(only_with_descriptor, [](const uninvited_peers::part& each) {
            return static_cast<const peer::uninvited_part&>(each).owner.lanes().received();
        });
    if (least == nullptr) return;
    peer& ended = static_cast<peer::uninvited_part*>(least)->owner;
    rejected_.warn(wireup_log,
                   "peers have made {} endpoints or lanes here that the program has not asked for, "
                   "{}: one of worker {:x} is ended, which has {}",
                   uninvited_.size(),
                   only_with_descriptor ? "and descriptors are scarce" : "which is the limit",
                   ended.uid(), least->weight());
    end_one_of(ended);
}

// A temporary peer without queued messages goes at the end of the current progress.
peer* worker::passing_peer(evidence from, const ucs::security::public_key& identity,
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
    peer& made = peers_.add_passing(identity, packed);
    made.refused_since = now;
    refused.push_back(made);
    return &made;
}

void worker::refuse(evidence from, const wire::wireup_header& unwanted,
                    std::span<const std::byte> address, wire::end_reason reason) {
    const auto parsed = address::parse(address, &rejected_);
    if (!parsed || parsed->uid() != unwanted.uid) return;
    // If a peer of the program has no lanes yet, none are made for a refusal.
    peer* const known = peers_.find(parsed->identity);
    const bool has_lanes = known != nullptr && known->lanes().is_open();
    peer* const to = has_lanes ? known : passing_peer(from, parsed->identity, address);
    if (to == nullptr || !to->control().has_room_for_strangers()) {
        dropped_refusals_.warn(
            wireup_log, "a request of worker {:x} is not answered: the limit of {} is reached",
            unwanted.uid, to == nullptr ? "refused workers" : "waiting refusals to it");
        return;
    }
    const peer_use kept(*to);
    if (unwanted.type == wire::wireup_type::pair) {
        to->pairing().refuse(unwanted);
        return;
    }
    if (to->setup().connect(wireup::pairs::excluded) == UCS_OK)
        wireup::send_refusal(*to, unwanted, reason);
}

}  // namespace ucp
