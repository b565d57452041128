#include "ucp/wireup/pairing.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/proof.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp::wireup {

using wire::unpaired_reason;
using wire::wireup_type;

namespace {

// A pair request is not repeated within this time, however many endpoints wait for it.
constexpr ucs::time::nanoseconds least_repeat_interval = ucs::time::second;

// Notifies the peer that lanes are over. If memory runs out, the peer finds out by itself or asks
// again.
template<class Notify>
void try_to_notify(std::uint64_t peer_uid, const Notify& notify) noexcept {
    if (!ucs::allocated(notify)) {
        ucs::log::debug(wireup_log,
                        "out of memory: worker {:x} is not notified that lanes are over", peer_uid);
    }
}

}  // namespace

pairing_action pairing::handle(pairing_event input, const arrival& from) {
    const pairing_transition taken = step(state_, input);
    state_ = taken.next;
    peer_.control().set_open(is_open());
    perform(taken.todo, from);
    return taken.todo;
}

void pairing::perform(pairing_action todo, const arrival& from) {
    using A = pairing_action;
    switch (todo) {
        case A::none:
        case A::deliver:
            return;
        case A::send_request:
        case A::send_reply:
            return send_request_or_reply();
        case A::accept:
        case A::accept_and_revoke:
            return accept(from, todo == A::accept_and_revoke);
        case A::postpone:
            return postpone(from);
        case A::refuse:
            return refuse(from.attempt);
        case A::connect_lanes:
            return connect_lanes(from);
        case A::confirm:
            send(wireup_type::joined, from.attempt, peer_.lanes().am());
            return join();
        case A::join:
            current_.owes_notice = false;
            return join();
        case A::try_other_lane:
            return try_other_lane(from);
        case A::reconnect:
            return slot_of<lane_setup>(peer_).reconnect(pairs::allowed);
        case A::reconnect_unpaired:
            return slot_of<lane_setup>(peer_).reconnect(pairs::excluded);
        case A::repeat_endpoint_requests:
            if (peer_.lanes().is_open())
                slot_of<lane_setup>(peer_).connect_endpoints(pairs::excluded);
            return;
        case A::fail_unreachable:
            log_unreachable(peer_.owner(), peer_);
            return peer_.fail_all(UCS_ERR_UNREACHABLE);
        case A::lose_lanes:
            return lose_lanes();
        case A::leave:
            return leave();
        case A::drop_and_reply:
            send_request_or_reply();
            [[fallthrough]];
        case A::drop:
            current_.has_dropped_message = true;
            return;
        case A::drop_and_check:
            current_.has_dropped_message = true;
            [[fallthrough]];
        case A::check_lane:
            return peer_.lanes().am().check();
        case A::check_bootstrap:
            return check_bootstrap();
        case A::notify:
            return send_end(false);
        case A::notify_joined:
            return send_end(!current_.owes_notice);
        case A::notify_and_give_up:
            send_end(false);
            [[fallthrough]];
        case A::give_up:
            return give_up();
    }
}

void pairing::send(wireup_type type, std::uint64_t attempt, uct::ep& over,
                   std::span<const std::byte> body, std::uint64_t last) {
    wire::wireup_header header{type, {}, peer_.owner().uid(), peer_.uid(), attempt, last};
    seal(peer_.identity(), header, body);
    peer_.control().send_over(over, {wire::wireup, std::as_bytes(std::span(&header, 1)), body, {}});
}

void pairing::send_unpaired(std::uint64_t attempt, uct::ep& over) {
    send(wireup_type::unpaired, attempt, over, {},
         static_cast<std::uint64_t>(unpaired_reason::cannot));
}

// Sends the kept pair request or reply, for the first time or again.
void pairing::send_request_or_reply() {
    const wireup_type type =
        state_ == pairing_state::requested ? wireup_type::pair : wireup_type::paired;
    current_.sent_at = ucs::time::now();
    send(type, current_.attempt, *peer_.lanes().bootstrap.endpoint, current_.message);
}

bool pairing::begin(const lane_choice& bootstrap, const lane_selection& chosen) {
    peer_lanes& lanes = peer_.lanes();
    if (!slot_of<lane_setup>(peer_).open(bootstrap, lanes.bootstrap)) return false;
    current_.attempt = ucs::sys::random_id();
    current_.owes_notice = true;
    last_attempt_ = current_.attempt;
    std::vector<described_lane> described;
    described.push_back(describe(lanes.message, chosen.am->address));
    for (const lane_choice& each : chosen.more_rails) {
        lane made;
        if (slot_of<lane_setup>(peer_).make(each.resource, each.address, made) != UCS_OK) continue;
        lanes.more_rails.push_back(std::move(made));
        described.push_back(describe(lanes.more_rails.back(), each.address));
    }
    pair_request request{{}, peer_.owner().identity().address(false)};
    for (const described_lane& each : described)
        request.lanes.push_back({each.transport, each.to, each.from, each.connection, each.device});
    current_.message = pack(request);
    handle(pairing_event::begin);
    return true;
}

pairing::described_lane pairing::describe(const lane& ours, std::span<const std::byte> to) const {
    return {peer_.owner().owner().resources()[ours.resource].where.transport, to,
            address_of(*ours.iface), connection_of(ours), ours.own_device};
}

void pairing::repeat_request() {
    if (ucs::time::now() - current_.sent_at >= least_repeat_interval) handle(pairing_event::repeat);
}

void pairing::on_request(const wire::wireup_header& header, const pair_request& request,
                         std::span<const std::byte> body) {
    const std::uint64_t attempt = header.ep;
    if (request.lanes.empty()) {
        // `attempt` is the last one that the peer knew when it sent this. Lanes that it has agreed
        // to meanwhile stay: they are another path, and their messages may have overtaken this one.
        // Lanes with an established endpoint are checked only: messages that the peer sent over
        // them are handled first.
        handle(end_of(attempt, is_any_established(peer_) ? pairing_event::declined_established
                                                         : pairing_event::declined));
        return;
    }
    // Lanes without pairs are kept if endpoints have sent requests over them: the peer takes a
    // request as received over these lanes and is ready for us there.
    const bool in_use =
        state_ == pairing_state::none && peer_.lanes().is_open() && is_any_wanted(peer_);
    const bool loses = peer_.owner().uid() < peer_.uid();
    handle(is_ours(attempt) ? pairing_event::request_repeated
           : in_use         ? pairing_event::request_in_use
           : loses          ? pairing_event::request_loses
                            : pairing_event::request,
           {.attempt = attempt, .header = &header, .request = &request, .body = body});
}

// Our own pair request is void if the peer's counts. If the peer receives it late, our `unpaired`
// follows it over the same lane.
void pairing::accept(const arrival& from, bool revokes) {
    const peer_use kept(peer_);
    const std::uint64_t revoked = current_.attempt;
    lane bootstrap = revokes ? std::move(peer_.lanes().bootstrap) : lane{};
    slot_of<lane_setup>(peer_).disconnect();
    peer_.lanes().bootstrap = std::move(bootstrap);
    handle(pairing_event::accepting);
    last_attempt_ = current_.attempt = from.attempt;
    current_.owes_notice = true;
    current_.holds_peer = true;
    peer_.hold();
    // If memory runs out, the endpoints made so far go with the rest and the request is refused.
    ucs_status_t made = UCS_ERR_NO_MEMORY;
    static_cast<void>(ucs::allocated([&] { made = make_accepted(*from.request); }));
    if (made != UCS_OK) {
        handle(pairing_event::accept_failed);
        return;
    }
    if (revokes) send_unpaired(revoked, *peer_.lanes().bootstrap.endpoint);
    slot_of<lane_setup>(peer_).connect_endpoints(pairs::allowed);
}

// Either the peer has lost its end of the lanes, or the request is stale: checking the lane tells.
void pairing::postpone(const arrival& from) {
    try {
        current_.postponed = std::make_unique<postponed_request>(
            postponed_request{*from.header, {from.body.begin(), from.body.end()}});
    } catch (const std::bad_alloc&) {
        // The state has changed already, and means that there is a request.
        if (current_.postponed == nullptr) handle(pairing_event::postponed_over);
        throw;
    }
    peer_.lanes().am().check();
}

// Makes our endpoints for a pair request and sends the reply.
ucs_status_t pairing::make_accepted(const pair_request& request) {
    peer_lanes& lanes = peer_.lanes();
    ucs_status_t status = accept_lane(request.lanes.front(), lanes.message);
    if (status == UCS_OK && !lanes.bootstrap.is_open()) status = open_bootstrap();
    if (status != UCS_OK) return status;
    lanes.is_shared = lanes.am_attr().keyed;
    slot_of<lane_setup>(peer_).choose_protocols();
    current_.message = make_reply(std::span(request.lanes).subspan(1));
    send_request_or_reply();
    peer_.owner().watch().add(peer_);
    return UCS_OK;
}

// The message lane exists already. A rail that cannot be made is left out of the reply.
std::vector<std::byte> pairing::make_reply(std::span<const pair_lane> rails) {
    peer_lanes& lanes = peer_.lanes();
    std::vector<std::vector<std::byte>> ours{connection_of(lanes.message)};
    pair_reply reply{{ours.front(), lanes.message.own_device}};
    for (const pair_lane& each : rails) {
        lane made;
        if (may_accept_rail(each) && accept_lane(each, made) == UCS_OK) {
            ours.push_back(connection_of(made));
            reply.push_back({ours.back(), made.own_device});
            lanes.more_rails.push_back(std::move(made));
        } else {
            slot_of<lane_setup>(peer_).close(made);
            reply.push_back({{}, mem::no_device});
        }
    }
    return pack(reply);
}

// Accepts no more rails than we would request ourselves, and only devices that no other rail uses.
bool pairing::may_accept_rail(const pair_lane& requested) const {
    const context& owner = peer_.owner().owner();
    const peer_lanes& lanes = peer_.lanes();
    if (!lanes.is_shared || 1 + lanes.more_rails.size() >= owner.options().rails()) return false;
    const auto collides = [&](const lane& each) {
        return each.device == requested.device ||
               std::ranges::equal(address_of(*each.iface), requested.to);
    };
    return requested.transport == owner.resources()[lanes.message.resource].where.transport &&
           !collides(lanes.message) && std::ranges::none_of(lanes.more_rails, collides);
}

ucs_status_t pairing::accept_lane(const pair_lane& requested, lane& into) {
    const worker& owner = peer_.owner();
    const auto& resources = owner.owner().resources();
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        uct::iface* const each = owner.interfaces().at(i);
        const bool meant = each != nullptr && each->attr().connection_length > 0 &&
                           resources[i].where.transport == requested.transport &&
                           std::ranges::equal(address_of(*each), requested.to);
        if (!meant) continue;
        if (!each->check_reachable(requested.from).ok()) return UCS_ERR_UNREACHABLE;
        const ucs_status_t status = slot_of<lane_setup>(peer_).make(i, requested.from, into);
        if (status != UCS_OK) return status;
        into.device = requested.device;
        return into.endpoint->connect_to(requested.connection);
    }
    return UCS_ERR_NO_DEVICE;
}

// Opens the bootstrap lane for our replies.
ucs_status_t pairing::open_bootstrap() {
    const auto remote = peer_.identity().parse();
    if (!remote) return remote.status();
    for (;;) {
        const auto chosen = slot_of<lane_setup>(peer_).select(*remote, pairs::allowed).bootstrap;
        if (!chosen) return UCS_ERR_UNREACHABLE;
        if (slot_of<lane_setup>(peer_).open(*chosen, peer_.lanes().bootstrap)) return UCS_OK;
    }
}

// A foreign reply is for a request that we gave up before it arrived.
void pairing::on_reply(std::uint64_t attempt, const pair_reply& reply) {
    const peer_use kept(peer_);
    handle(is_ours(attempt) ? pairing_event::reply : pairing_event::foreign_reply,
           {.attempt = attempt, .reply = &reply});
}

void pairing::connect_lanes(const arrival& from) {
    const pair_reply& reply = *from.reply;
    peer_lanes& lanes = peer_.lanes();
    const ucs_status_t status = reply.size() == 1 + lanes.more_rails.size()
                                    ? lanes.am().connect_to(reply.front().connection)
                                    : UCS_ERR_INVALID_ADDR;
    if (status != UCS_OK) {
        handle(pairing_event::lanes_failed, {.failure = status});
        return;
    }
    lanes.message.device = reply.front().device;
    connect_rails(reply);
    handle(pairing_event::lanes_connected, from);
}

// Leaves out the rails that the peer could not make or that cannot be connected.
void pairing::connect_rails(const pair_reply& reply) {
    std::vector<lane>& rails = peer_.lanes().more_rails;
    for (std::size_t i = rails.size(); i > 0; --i) {
        lane& ours = rails[i - 1];
        const pair_reply_lane& their_lane = reply[i];
        ours.device = their_lane.device;
        const bool made = ours.is_open() && !their_lane.connection.empty();
        if (made && ours.endpoint->connect_to(their_lane.connection) == UCS_OK) continue;
        const auto& where = peer_.owner().owner().resources()[ours.resource].where;
        ucs::log::info(wireup_log, "worker {:x} has no rail over {}/{}", peer_.uid(),
                       where.transport, where.device);
        lane gone = std::move(ours);
        rails.erase(rails.begin() + static_cast<std::ptrdiff_t>(i - 1));
        slot_of<lane_setup>(peer_).close(gone);
    }
}

void pairing::on_joined(std::uint64_t attempt) {
    const peer_use kept(peer_);
    if (is_ours(attempt)) handle(pairing_event::joined);
}

void pairing::join() noexcept {
    slot_of<lane_setup>(peer_).close(peer_.lanes().bootstrap);
    current_.message = {};
    peer_.control().release_held(peer_.lanes().am());
    slot_of<lane_setup>(peer_).note_lanes();
}

// The peer has given up the lanes of an attempt. Returns `if_ours` if these are our current lanes.
pairing_event pairing::end_of(std::uint64_t attempt, pairing_event if_ours) noexcept {
    if (current_.postponed != nullptr && current_.postponed->header.ep == attempt) {
        current_.postponed.reset();
        return pairing_event::postponed_over;
    }
    if (!is_ours(attempt)) return pairing_event::other_attempt_over;
    current_.owes_notice = false;
    return if_ours;
}

void pairing::on_unpaired(std::uint64_t attempt, unpaired_reason why) {
    const peer_use kept(peer_);
    handle(end_of(attempt, why == unpaired_reason::not_here ? pairing_event::not_here
                                                            : pairing_event::unpaired));
}

void pairing::try_other_lane(const arrival& from) {
    const std::size_t resource = peer_.lanes().message.resource;
    if (from.failure != UCS_OK) {
        slot_of<lane_setup>(peer_).change_lanes(resource, from.failure);
        return;
    }
    const auto& where = peer_.owner().owner().resources()[resource].where;
    ucs::log::info(wireup_log, "worker {:x} cannot connect over {}/{}: trying another transport",
                   peer_.uid(), where.transport, where.device);
    slot_of<lane_setup>(peer_).change_lanes(resource, UCS_ERR_REJECTED);
}

// The peer's end of the lanes is over, and so is ours.
void pairing::lose_lanes() {
    const bool has_dropped_message = current_.has_dropped_message;
    slot_of<lane_setup>(peer_).lane_lost(peer_.lanes().message.resource, UCS_ERR_CONNECTION_RESET);
    if (peer_.dead() && has_dropped_message) notify_end();
}

void pairing::leave() noexcept {
    const peer_use kept(peer_);
    worker& owner = peer_.owner();
    owner.peers().forget(peer_);
    const auto postponed = take_postponed();
    const bool has_new_request = postponed != nullptr;
    if (has_new_request) answer_postponed(owner, *postponed);
    const bool has_moved = ucs::allocated([&] {
        peer* fresh = nullptr;
        const peer_identity& identity = peer_.identity();
        for (auto next = peer_.endpoints().begin(); next != peer_.endpoints().end();) {
            ep& each = *next++;
            if (!is_waiting(state_of(each))) continue;
            if (fresh == nullptr)
                fresh = &owner.peers().intern(identity.key(), identity.origin(), identity.packed());
            move_to(each, *fresh);
        }
        if (fresh != nullptr) slot_of<lane_setup>(*fresh).connect_endpoints(pairs::allowed);
    });
    if (!has_moved) {
        ucs::log::error(wireup_log, "out of memory: no new connection to worker {:x} is made",
                        peer_.uid());
    }
    peer_.fail_all(UCS_ERR_NOT_CONNECTED);
    if (current_.has_dropped_message && !has_new_request) notify_end();
}

// Tells the peer that the lanes of our last attempt no longer exist and that we use none in pairs.
void pairing::send_without_pairs(uct::ep& over) {
    send(wireup_type::pair, std::exchange(last_attempt_, 0), over,
         pack(pair_request{{}, peer_.owner().identity().address(false)}));
}

void pairing::notify_without_pairs() {
    if (last_attempt_ != 0) send_without_pairs(peer_.lanes().am());
}

void pairing::refuse(std::uint64_t attempt) {
    if (uct::ep* const over = lane_for_refusal()) send_unpaired(attempt, *over);
}

// The header names the worker that was addressed as its sender, because the requester knows no
// other.
void pairing::refuse(const wire::wireup_header& unwanted) {
    uct::ep* const over = lane_for_refusal();
    if (over == nullptr) return;
    wire::wireup_header header{wireup_type::unpaired, {},          unwanted.peer_uid,
                               unwanted.uid,          unwanted.ep, 0};
    header.peer_ep_or_number = static_cast<std::uint64_t>(unpaired_reason::not_here);
    header.receipt = unwanted.receipt;
    peer_.control().send_over(*over, {wire::wireup, std::as_bytes(std::span(&header, 1)), {}, {}});
}

bool pairing::knows_attempt(std::uint64_t attempt) const noexcept {
    if (attempt == 0) return false;
    return last_attempt_ == attempt || is_ours(attempt) ||
           (current_.postponed != nullptr && current_.postponed->header.ep == attempt);
}

uct::ep* pairing::lane_for_refusal() {
    peer_lanes& lanes = peer_.lanes();
    if (lanes.is_open() && is_open()) return &lanes.am();
    handle(pairing_event::refuse_without_lane);
    if (!lanes.bootstrap.is_open() && open_bootstrap() != UCS_OK) return nullptr;
    return lanes.bootstrap.endpoint.get();
}

bool pairing::accepts_connection_message(bool over_pair) {
    if (over_pair && is_joined(state_)) current_.owes_notice = false;
    return handle(over_pair ? pairing_event::over_pair : pairing_event::over_others) ==
           pairing_action::deliver;
}

void pairing::release_reference() noexcept {
    if (std::exchange(current_.holds_peer, false)) peer_.release();
}

std::uint64_t pairing::close() noexcept {
    const std::uint64_t left = must_notify() ? current_.attempt : 0;
    handle(pairing_event::close);
    slot_of<lane_setup>(peer_).close(peer_.lanes().bootstrap);
    release_reference();
    current_ = {};
    return left;
}

void pairing::give_up() noexcept {
    release_reference();
    current_.postponed.reset();
    current_.has_dropped_message = false;
    current_.owes_notice = false;
}

// A late requester finds the lanes closed and sends a new request.
void pairing::check_bootstrap() noexcept {
    constexpr unsigned enough = 2 * keepalive::checks_per_interval;
    if (current_.holds_peer && ++current_.checks > enough) {
        release_reference();
    } else {
        peer_.lanes().bootstrap.endpoint->check();
    }
}

bool pairing::must_notify() const noexcept {
    if (state_ == pairing_state::refusing) return false;
    return current_.has_dropped_message || current_.owes_notice;
}

bool pairing::notify_before_destruction() noexcept {
    if (peer_.dead() || !must_notify()) return false;
    if (handle(pairing_event::destroy) == pairing_action::none) return false;
    slot_of<lane_setup>(peer_).close_lanes();
    return peer_.is_held();
}

void pairing::notify_end() noexcept {
    if (in_pairs(state_)) send_end(false);
}

void pairing::send_end(bool without_pairs) noexcept {
    try_to_notify(peer_.uid(), [&] {
        const lane& bootstrap = peer_.lanes().bootstrap;
        if (!bootstrap.is_open() && open_bootstrap() != UCS_OK) return;
        if (without_pairs) {
            send_without_pairs(*bootstrap.endpoint);
        } else {
            send_unpaired(current_.attempt, *bootstrap.endpoint);
        }
    });
}

// Not needed if there are lanes without pairs now, because making them has sent that notice.
void pairing::notify_over(std::uint64_t attempt) noexcept {
    if (state_ == pairing_state::none && peer_.lanes().is_open()) return;
    try_to_notify(peer_.uid(), [&] { refuse(attempt); });
}

}  // namespace ucp::wireup
