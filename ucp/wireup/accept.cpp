#include "ucp/wireup/accept.hpp"

#include <algorithm>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/refusals.hpp"
#include "ucp/wireup/requests.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"

namespace ucp::wireup {

namespace {

// Returns our endpoint that a request of the peer belongs to: the one with the same number that is
// not connected yet, or the one that an earlier copy of the request made. nullptr: a new endpoint
// is needed.
ep* find_for_request(peer& from, std::uint64_t number, std::uint64_t remote_ep) noexcept {
    ep* found = nullptr;
    const auto [first, last] = from.endpoints().with_number(number);
    for (auto each = first; each != last; ++each) {
        const state current = state_of(*each);
        // The request is a repeated one: the peer changed its lane, or had no reply for long. An
        // endpoint that was closed meanwhile has replied already.
        const bool answered = current == state::ready || current == state::closing;
        if (answered && each->remote_id() == remote_ep) return &*each;
        if (is_waiting(current) && found == nullptr) found = &*each;
    }
    return found;
}

// Returns an endpoint that a request of the peer made and the program has not asked for yet, or
// nullptr.
ep* first_unowned(peer& to) noexcept {
    for (ep& each : to.endpoints().unowned()) {
        if (is_adoptable(each)) return &each;
    }
    return nullptr;
}

// Ends the oldest of the peer's endpoints that the program has not asked for, or the lanes if there
// is none. If the peer object exists only because of the peer's requests and has no other endpoint,
// nothing of it stays.
void end_one_of(peer& ended) noexcept {
    const peer_use kept(ended);
    const auto is_uninvited = [](const ep& each) { return wireup::is_uninvited(each); };
    const auto oldest = std::ranges::find_if(ended.endpoints(), is_uninvited);
    if (oldest != ended.endpoints().end()) end_for_limit(*oldest);
    if (!ended.uninvited.is_stranger() || std::ranges::any_of(ended.endpoints(), is_uninvited))
        return;
    ended.uninvited.set_stranger(false);
    slot_of<pairing>(ended).handle(pairing_event::give_up);
    ended.control().drop_waiting();
}

void end_one_uninvited(worker& owner, bool only_with_descriptor) noexcept {
    uninvited_peers::part* const least = owner.limits().uninvited().least(
        only_with_descriptor, [](const uninvited_peers::part& each) {
            return static_cast<const peer::uninvited_part&>(each).owner.lanes().received();
        });
    if (least == nullptr) return;
    peer& ended = static_cast<peer::uninvited_part*>(least)->owner;
    owner.log().rejected().warn(
        wireup_log,
        "peers have made {} endpoints or lanes here that the program has not asked for, "
        "{}: one of worker {:x} is ended, which has {}",
        owner.limits().uninvited().size(),
        only_with_descriptor ? "and descriptors are scarce" : "which is the limit", ended.uid(),
        least->weight());
    end_one_of(ended);
}

void make_room_for_uninvited(worker& owner) noexcept {
    if (owner.limits().uninvited().is_full()) end_one_uninvited(owner, false);
    if (owner.limits().uninvited().is_full_if_scarce() && ucs::sys::are_descriptors_scarce())
        end_one_uninvited(owner, true);
}

// Returns whether the limit for one peer allows its requests to make another endpoint.
bool may_have_one_more(worker& owner, const peer& asking) noexcept {
    const uninvited_peers::part& part = asking.uninvited;
    if (part.endpoints() < owner.limits().uninvited().limits().most_of_one) return true;
    owner.log().rejected().warn(
        wireup_log,
        "worker {:x} exceeds the limit of endpoints: it has made {} here that the program "
        "has not asked for",
        asking.uid(), part.endpoints());
    return false;
}

// Ends endpoints of other peers if all peers together have too many. For a new peer, room for its
// first endpoint was made when the peer came.
void make_room_for_endpoint(worker& owner, const peer& asking) noexcept {
    const uninvited_peers::part& part = asking.uninvited;
    if (part.endpoints() == part.weight()) make_room_for_uninvited(owner);
}

}  // namespace

peer& intern_asking(worker& owner, const ucs::security::public_key& identity,
                    std::span<const std::byte> packed) {
    const bool is_new = owner.peers().find(identity, packed) == nullptr;
    if (is_new) make_room_for_uninvited(owner);
    peer& asking = owner.peers().intern(identity, peer_identity::source::given, packed);
    if (is_new) asking.uninvited.set_stranger(true);
    return asking;
}

bool is_false_own_address(const worker& owner, const ucs::security::public_key& identity,
                          std::span<const std::byte> packed) noexcept {
    return identity == owner.identity().public_half() &&
           !std::ranges::equal(packed, owner.identity().address(false)) &&
           !std::ranges::equal(packed, owner.identity().address(true));
}

ucs::result<ep*> create_ep(worker& owner, const void* packed_address, const ep_params& params) {
    const auto length = address::packed_length(packed_address);
    if (!length) return length.status();
    const std::span bytes(static_cast<const std::byte*>(packed_address), *length);
    const auto parsed = address::parse(bytes);
    if (!parsed) return parsed.status();
    if (is_false_own_address(owner, parsed->identity, bytes)) {
        owner.log().unreachable().error(
            wireup_log,
            "an address with this worker's own key is neither of its two addresses: "
            "it was modified");
        return UCS_ERR_INVALID_ADDR;
    }
    std::string name(params.name);
    peer* to = &owner.peers().intern(parsed->identity, peer_identity::source::given, bytes);
    const peer_use kept(*to);
    ep* made = params.apart ? nullptr : first_unowned(*to);
    if (made == nullptr || to->identity().is_self()) {
        const std::uint64_t number = params.apart ? peer_endpoints::first_apart_number |
                                                        2 * slot_of<requests>(owner).apart_numbers++
                                                  : to->endpoints().next_number();
        made = &ep::make(owner, *to, number);
    }
    adopt(*made, params, std::move(name));
    return made;
}

ep* accept(worker& owner, const wire::wireup_header& request, std::uint64_t remote_ep,
           std::span<const std::byte> address) {
    const auto parsed = address::parse(address, &owner.log().rejected());
    if (!parsed) return nullptr;
    if (parsed->uid() != request.uid) {
        owner.log().rejected().warn(
            wireup_log,
            "a connection request of worker {:x} with the address of worker {:x} was "
            "dropped",
            request.uid, parsed->uid());
        return nullptr;
    }
    if (request.peer_ep_or_number >= peer_endpoints::first_socket_number) {
        owner.log().rejected().warn(
            wireup_log,
            "worker {:x} asked for an endpoint that belongs to a client by socket "
            "address: the request was dropped",
            request.uid);
        return nullptr;
    }
    if (!slot_of<requests>(owner).order.take(parsed->identity, request.order())) {
        // The sender repeats the request with a new number if it still waits.
        ucs::log::debug(wireup_log,
                        "a connection request of worker {:x} that is older than its last one was "
                        "dropped",
                        request.uid);
        return nullptr;
    }
    // Two endpoints of one worker that connect to each other (NO_LOOPBACK) pair up.
    const bool is_apart = peer_endpoints::is_apart(request.peer_ep_or_number);
    const std::uint64_t number =
        request.peer_ep_or_number ^ (request.uid == owner.uid() || is_apart ? std::uint64_t{1} : 0);
    peer* from = &intern_asking(owner, parsed->identity, address);
    const peer_use kept(*from);
    ep* accepted = find_for_request(*from, number, remote_ep);
    if (accepted == nullptr) {
        if (!may_have_one_more(owner, *from)) {
            slot_of<refusals>(owner).refuse(evidence::proof, request, address,
                                            wire::end_reason::too_many);
            return nullptr;
        }
        make_room_for_endpoint(owner, *from);
        accepted = &ep::make(owner, *from, number);
        mark_uninvited(*accepted);
        if (!is_apart) from->endpoints().offer(*accepted);
    }
    // ensure_lanes is not used here: an endpoint of the program does not fail because of a
    // request, but tries again when it is used. The peer's request came without paired lanes, so
    // the reply uses none.
    if (state_of(*accepted) == state::idle &&
        slot_of<lane_setup>(*from).connect(pairs::excluded) != UCS_OK) {
        // A repeated request must not find this endpoint any more.
        if (!accepted->program().is_owner()) wireup::handle(*accepted, event::local_close);
        return nullptr;
    }
    slot_of<lane_setup>(*from).note_lanes();
    return accepted;
}

bool bind(worker& owner, ep& client, const wire::wireup_header& header,
          std::span<const std::byte> address) {
    const auto parsed = address::parse(address, &owner.log().rejected());
    if (!parsed || parsed->uid() != header.uid) {
        // address::parse has logged why an address cannot be read.
        if (parsed) {
            owner.log().rejected().warn(
                wireup_log,
                "the server of endpoint {:x} sent the address of worker {:x} in the name "
                "of worker {:x}: the connection ends",
                client.id(), parsed->uid(), header.uid);
        }
        wireup::handle(client, event::failure, UCS_ERR_REJECTED);
        return false;
    }
    peer& to = owner.peers().intern(parsed->identity, peer_identity::source::given, address);
    const peer_use kept(to);
    socket_of(client)->bind();
    move_to(client, to);
    return true;
}

}  // namespace ucp::wireup
