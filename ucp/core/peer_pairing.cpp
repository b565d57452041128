// Connection set-up of paired lanes with the peer: members of ucp::peer. ucp/wireup/pairing.hpp
// describes the protocol.
#include <algorithm>
#include <new>
#include <utility>

#include "ucp/core/keepalive.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

using wire::unpaired_reason;
using wire::wireup_type;
using wireup::pairing_state;

namespace {

// A pair request is not repeated within this time, however many endpoints wait for it.
constexpr ucs::time::nanoseconds least_repeat_interval = ucs::time::second;

std::vector<std::byte> address_of(const uct::iface& iface) {
    std::vector<std::byte> made(iface.attr().address_length);
    iface.pack_address(made);
    return made;
}

std::vector<std::byte> connection_of(const uct::ep& endpoint, const uct::iface_attr& attr) {
    std::vector<std::byte> made(attr.connection_length);
    endpoint.pack_connection(made);
    return made;
}

// Notifies the peer that lanes are over. If memory runs out, the peer finds out by itself or asks
// again.
template<class Notify>
void try_to_notify(std::uint64_t peer_uid, const Notify& notify) noexcept {
    try {
        notify();
    } catch (const std::bad_alloc&) {
        ucs::log::debug(wireup_log,
                        "out of memory: worker {:x} is not notified that lanes are over", peer_uid);
    }
}

}  // namespace

void peer::send_pair_message(wireup_type type, std::uint64_t attempt, std::uint64_t last,
                             uct::ep& over, std::span<const std::byte> body) noexcept {
    wire::wireup_header header{type, {}, owner_.uid(), uid_, attempt, last};
    seal(header, body);
    send_over(over, {wire::wireup, std::as_bytes(std::span(&header, 1)), body, 0});
}

// Sends the kept pair request or reply, for the first time or again.
void peer::send_request_or_reply() noexcept {
    const wireup_type type =
        pairing_->state == pairing_state::requested ? wireup_type::pair : wireup_type::paired;
    pairing_->sent_at = ucs::time::now();
    send_pair_message(type, pairing_->attempt, 0, *pairing_->bootstrap.endpoint, pairing_->message);
}

// Makes our endpoints and sends the pair request. False: a resource was excluded, or the lane has
// failed. For a lane to this worker itself one endpoint is both ends, and rails are not used.
bool peer::begin_pairing(const wireup::lane_choice& bootstrap,
                         const wireup::lane_selection& chosen) {
    if (is_self()) return pair_with_itself();
    pairing_ = std::make_unique<wireup::pairing>();
    pairing_->state = pairing_state::requested;
    pairing_->attempt = ucs::sys::random_id();
    if (!open(bootstrap, pairing_->bootstrap)) return false;
    last_attempt_ = pairing_->attempt;
    std::vector<described_lane> described;
    described.push_back(describe(am_, chosen.am->address));
    for (const wireup::lane_choice& each : chosen.more_rails) {
        lane made;
        if (make(each.resource, each.address, made) != UCS_OK) continue;
        more_rails_.push_back(std::move(made));
        described.push_back(describe(more_rails_.back(), each.address));
    }
    wireup::pair_request request{{}, owner_.address(false)};
    for (const described_lane& each : described)
        request.lanes.push_back({each.transport, each.to, each.from, each.connection, each.device});
    pairing_->message = wireup::pack(request);
    send_request_or_reply();
    return true;
}

peer::described_lane peer::describe(const lane& ours, std::span<const std::byte> to) const {
    return {owner_.owner().resources()[ours.resource].where.transport, to,
            address_of(*owner_.interface(ours.resource)),
            connection_of(*ours.endpoint, attr_of(ours)), own_device(ours)};
}

// The endpoint is connected to itself. Both ends are on one device, whichever of our devices was
// found first.
bool peer::pair_with_itself() {
    const std::size_t resource = am_.resource;
    close(am_);
    if (!open({resource, address_of(*owner_.interface(resource))}, am_)) return false;
    const ucs_status_t status = am_.endpoint->connect_to(connection_of(*am_.endpoint, am_attr()));
    am_.device = own_device(am_);
    if (status != UCS_OK) excluded_.push_back({am_.resource, status});
    return status == UCS_OK;
}

void peer::repeat_pair_request() noexcept {
    const bool has_requested = pairing_ != nullptr && pairing_->state == pairing_state::requested;
    if (has_requested && ucs::time::now() - pairing_->sent_at >= least_repeat_interval)
        send_request_or_reply();
}

void peer::on_pair_request(const wire::wireup_header& header, const wireup::pair_request& request,
                           std::span<const std::byte> body) {
    const std::uint64_t attempt = header.ep;
    if (request.lanes.empty()) {
        on_pair_without_lanes(attempt);
        return;
    }
    if (pairing_ != nullptr && pairing_->attempt == attempt) {
        if (pairing_->state == pairing_state::replied)
            send_request_or_reply();  // the reply was lost, or is on its way
        return;
    }
    if (pairing_ != nullptr && pairing_->state == pairing_state::requested && owner_.uid() < uid_) {
        return;  // our request counts, and the peer replies to it
    }
    // Joined lanes are not given up for a request, which may be older than they are.
    if (pairing_ != nullptr && pairing_->state == pairing_state::joined) {
        postpone(header, body);
        return;
    }
    // Lanes without pairs are kept as well if endpoints have sent requests over them: the peer
    // takes a request as received over these lanes and is ready for us there.
    if (pairing_ == nullptr && am_.endpoint != nullptr && is_wanted()) {
        refuse_pairing(attempt);
        return;
    }
    const peer_use kept(*this);
    // Our own pair request is void. If the peer receives it late, our `unpaired` follows it over
    // the same lane.
    const bool has_requested = pairing_ != nullptr && pairing_->state == pairing_state::requested;
    const std::uint64_t void_attempt = has_requested ? pairing_->attempt : 0;
    lane bootstrap = has_requested ? std::move(pairing_->bootstrap) : lane{};
    disconnect();
    if (accept_pairing(attempt, request, bootstrap) == UCS_OK) {
        if (has_requested) {
            send_pair_message(wireup_type::unpaired, void_attempt,
                              static_cast<std::uint64_t>(unpaired_reason::cannot),
                              *pairing_->bootstrap.endpoint);
        }
    } else {
        close(bootstrap);
        reconnect(wireup::pairs::excluded);
        return;
    }
    connect_endpoints(wireup::pairs::allowed);
}

// Postpones a pair request that arrives while the lanes are joined. Either the peer has lost its
// end of the lanes, or the request is stale: checking the lane tells.
void peer::postpone(const wire::wireup_header& header, std::span<const std::byte> body) {
    pairing_->postponed =
        std::make_unique<wireup::pairing::postponed_request>(wireup::pairing::postponed_request{
            header, std::vector<std::byte>(body.begin(), body.end())});
    am_.endpoint->check();
}

// If memory runs out, the endpoints made so far go with the rest and the request is refused.
// Without memory even for the pairing object no refusal is sent; the peer repeats its request.
ucs_status_t peer::accept_pairing(std::uint64_t attempt, const wireup::pair_request& request,
                                  lane& bootstrap) noexcept {
    try {
        return make_paired_lanes(attempt, request, bootstrap);
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
}

// Makes our endpoints for a pair request and sends the reply. Takes `bootstrap` over if it holds an
// endpoint.
ucs_status_t peer::make_paired_lanes(std::uint64_t attempt, const wireup::pair_request& request,
                                     lane& bootstrap) {
    pairing_ = std::make_unique<wireup::pairing>();
    pairing_->state = pairing_state::replied;
    pairing_->attempt = attempt;
    last_attempt_ = attempt;
    pairing_->holds_peer = true;
    pairing_->bootstrap = std::move(bootstrap);
    hold();
    if (request.lanes.empty()) return UCS_ERR_UNSUPPORTED;
    ucs_status_t status = accept_paired_lane(request.lanes.front(), am_);
    const bool has_bootstrap = pairing_->bootstrap.endpoint != nullptr;
    if (status == UCS_OK && !has_bootstrap) status = open_bootstrap();
    if (status != UCS_OK) return status;
    shared_lane_ = am_attr().keyed;
    choose_protocols();
    pairing_->message = make_reply(std::span(request.lanes).subspan(1));
    send_request_or_reply();
    owner_.watch().add(*this);
    return UCS_OK;
}

// The message lane exists already. A rail that cannot be made is left out of the reply.
std::vector<std::byte> peer::make_reply(std::span<const wireup::pair_lane> rails) {
    std::vector<std::vector<std::byte>> ours{connection_of(*am_.endpoint, am_attr())};
    wireup::pair_reply reply{{ours.front(), own_device(am_)}};
    for (const wireup::pair_lane& each : rails) {
        lane made;
        if (may_accept_rail(each) && accept_paired_lane(each, made) == UCS_OK) {
            ours.push_back(connection_of(*made.endpoint, attr_of(made)));
            reply.push_back({ours.back(), own_device(made)});
            more_rails_.push_back(std::move(made));
        } else {
            close(made);
            reply.push_back({{}, mem::no_device});
        }
    }
    return wireup::pack(reply);
}

// Accepts no more rails than we would request ourselves, and only devices that no other rail uses.
bool peer::may_accept_rail(const wireup::pair_lane& requested) const {
    const auto& resources = owner_.owner().resources();
    const std::size_t most = owner_.owner().options().rails();
    if (!shared_lane_ || 1 + more_rails_.size() >= most) return false;
    const auto collides = [&](const lane& each) {
        return each.device == requested.device ||
               std::ranges::equal(address_of(*owner_.interface(each.resource)), requested.to);
    };
    return requested.transport == resources[am_.resource].where.transport && !collides(am_) &&
           std::ranges::none_of(more_rails_, collides);
}

ucs_status_t peer::accept_paired_lane(const wireup::pair_lane& requested, lane& into) {
    const auto& resources = owner_.owner().resources();
    for (std::size_t i = 0; i < owner_.interface_count(); ++i) {
        uct::iface* const each = owner_.interface(i);
        const bool meant = each != nullptr && each->attr().connection_length > 0 &&
                           resources[i].where.transport == requested.transport &&
                           std::ranges::equal(address_of(*each), requested.to);
        if (!meant) continue;
        if (!each->check_reachable(requested.from).ok()) return UCS_ERR_UNREACHABLE;
        const ucs_status_t status = make(i, requested.from, into);
        if (status != UCS_OK) return status;
        into.device = requested.device;
        return into.endpoint->connect_to(requested.connection);
    }
    return UCS_ERR_NO_DEVICE;
}

// Opens the bootstrap lane for our replies.
ucs_status_t peer::open_bootstrap() {
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    if (!remote) return remote.status();
    for (;;) {
        const auto chosen = select_lanes_to(*remote, wireup::pairs::allowed).bootstrap;
        if (!chosen) return UCS_ERR_UNREACHABLE;
        if (open(*chosen, pairing_->bootstrap)) return UCS_OK;
    }
}

void peer::on_pair_reply(std::uint64_t attempt, const wireup::pair_reply& reply) {
    if (pairing_ == nullptr || pairing_->attempt != attempt) {
        // The reply is for a request that we gave up before it arrived. Refuse it, or the peer
        // would wait for ever.
        const peer_use kept(*this);
        refuse_pairing(attempt);
        return;
    }
    if (pairing_->state != pairing_state::requested) return;
    const ucs_status_t status = reply.size() == 1 + more_rails_.size()
                                    ? am_.endpoint->connect_to(reply.front().connection)
                                    : UCS_ERR_INVALID_ADDR;
    if (status != UCS_OK) {
        change_lanes(am_.resource, status, wireup::pairs::allowed);
        return;
    }
    am_.device = reply.front().device;
    connect_rails(reply);
    const peer_use kept(*this);
    send_pair_message(wireup_type::joined, attempt, 0, *am_.endpoint);
    join();
}

// Leaves out the rails that the peer could not make or that cannot be connected.
void peer::connect_rails(const wireup::pair_reply& reply) {
    for (std::size_t i = more_rails_.size(); i > 0; --i) {
        lane& ours = more_rails_[i - 1];
        const wireup::pair_reply_lane& their_lane = reply[i];
        ours.device = their_lane.device;
        const bool made = ours.endpoint != nullptr && !their_lane.connection.empty();
        if (made && ours.endpoint->connect_to(their_lane.connection) == UCS_OK) continue;
        const auto& where = owner_.owner().resources()[ours.resource].where;
        ucs::log::info(wireup_log, "worker {:x} has no rail over {}/{}", uid_, where.transport,
                       where.device);
        lane gone = std::move(ours);
        more_rails_.erase(more_rails_.begin() + static_cast<std::ptrdiff_t>(i - 1));
        close(gone);
    }
}

void peer::on_joined(std::uint64_t attempt) {
    if (pairing_ == nullptr || pairing_->state != pairing_state::replied ||
        pairing_->attempt != attempt)
        return;
    const peer_use kept(*this);
    pairing_->peer_notices_end = true;
    join();
}

void peer::join() noexcept {
    pairing_->state = pairing_state::joined;
    close(pairing_->bootstrap);
    pairing_->message = {};
    release_all(pairing_->held, *am_.endpoint);
    note_lanes();
}

void peer::release_all(held_list& all, uct::ep& over) noexcept {
    while (!all.empty()) {
        uct::pending_request& held = all.front();
        all.pop_front();
        control_message::release(held, over);
    }
}

void peer::drop_all(held_list& all) {
    while (!all.empty()) {
        uct::pending_request& held = all.front();
        all.pop_front();
        drop(held, nullptr);
    }
}

// Moves the messages that wait for room on the bootstrap lane into a list.
void peer::take_queue(wireup::pairing& from, held_list& into) noexcept {
    if (from.bootstrap.endpoint == nullptr) return;
    from.bootstrap.endpoint->pending_purge(
        [](uct::pending_request& queued, void* list) {
            static_cast<held_list*>(list)->push_back(queued);
        },
        &into);
}

// The peer has given up the lanes of an attempt. Returns whether these are our current lanes. If
// they are not, the peer may have dropped what we sent until now, so we repeat what we wait for.
bool peer::on_attempt_given_up(std::uint64_t given_up) noexcept {
    if (pairing_ == nullptr) {
        repeat_requests();
        return false;
    }
    if (pairing_->postponed != nullptr && pairing_->postponed->header.ep == given_up)
        pairing_->postponed.reset();
    const bool ours = pairing_->attempt == given_up && pairing_->state != pairing_state::refusing;
    if (ours) pairing_->peer_notices_end = true;
    if (!ours && pairing_->state == pairing_state::requested) send_request_or_reply();
    return ours;
}

void peer::repeat_requests() noexcept {
    if (am_.endpoint != nullptr) connect_endpoints(wireup::pairs::excluded);
}

void peer::on_unpaired(std::uint64_t attempt, unpaired_reason why) {
    const peer_use kept(*this);
    if (!on_attempt_given_up(attempt)) return;
    if (pairing_->state == pairing_state::replied) {
        reconnect(wireup::pairs::allowed);  // the requester has given up
        return;
    }
    if (pairing_->state == pairing_state::joined) {
        on_paired_lanes_lost();
        return;
    }
    if (why == unpaired_reason::not_here) {
        wireup::log_unreachable(owner_, *this);
        fail_all(UCS_ERR_UNREACHABLE);
        return;
    }
    const auto& where = owner_.owner().resources()[am_.resource].where;
    ucs::log::info(wireup_log, "worker {:x} cannot connect over {}/{}: trying another transport",
                   uid_, where.transport, where.device);
    change_lanes(am_.resource, UCS_ERR_REJECTED, wireup::pairs::allowed);
}

// The peer's end of the lanes is over, and so is ours.
void peer::on_paired_lanes_lost() noexcept {
    if (pairing_->postponed != nullptr) {
        on_peer_left();
        return;
    }
    const bool has_dropped_message = pairing_->has_dropped_message;
    lane_lost(am_.resource, UCS_ERR_CONNECTION_RESET);
    if (dead_ && has_dropped_message) notify_peer(wireup_type::unpaired);
}

// `since`: the last attempt that the peer knew when it sent this. Lanes that it has agreed to
// meanwhile stay: they are another path, and their messages may have overtaken this one.
void peer::on_pair_without_lanes(std::uint64_t since) {
    if (!on_attempt_given_up(since)) return;
    if (has_established_endpoint()) {
        am_.endpoint->check();  // messages that the peer sent over them are handled first
    } else {
        reconnect(wireup::pairs::excluded);
    }
}

// Tells the peer that the lanes of our last attempt no longer exist and that we use none in pairs.
void peer::send_pair_without_lanes(uct::ep& over) {
    send_pair_message(wireup_type::pair, std::exchange(last_attempt_, 0), 0, over,
                      wireup::pack(wireup::pair_request{{}, owner_.address(false)}));
}

void peer::refuse_pairing(std::uint64_t attempt) {
    uct::ep* const over = lane_for_refusal();
    if (over == nullptr) return;
    send_pair_message(wireup_type::unpaired, attempt,
                      static_cast<std::uint64_t>(unpaired_reason::cannot), *over);
}

// The header names the worker that was addressed as its sender, because the requester knows no
// other.
void peer::refuse_pairing(const wire::wireup_header& unwanted) {
    uct::ep* const over = lane_for_refusal();
    if (over == nullptr) return;
    wire::wireup_header header{wireup_type::unpaired, {},          unwanted.peer_uid,
                               unwanted.uid,          unwanted.ep, 0};
    header.peer_ep_or_number = static_cast<std::uint64_t>(unpaired_reason::not_here);
    header.receipt = unwanted.receipt;
    send_over(*over, {wire::wireup, std::as_bytes(std::span(&header, 1)), {}, 0});
}

bool peer::knows_attempt(std::uint64_t attempt) const noexcept {
    if (attempt == 0) return false;
    if (pairing_ == nullptr || last_attempt_ == attempt) return last_attempt_ == attempt;
    return pairing_->attempt == attempt ||
           (pairing_->postponed != nullptr && pairing_->postponed->header.ep == attempt);
}

// Without a lane no message waits.
bool peer::has_room_for_strangers() const noexcept {
    constexpr std::size_t most_waiting = 256;
    std::size_t waiting = am_.endpoint == nullptr ? 0 : am_.endpoint->sent().queued;
    if (pairing_ != nullptr) {
        const uct::ep* const bootstrap = pairing_->bootstrap.endpoint.get();
        waiting += pairing_->held.size() + (bootstrap == nullptr ? 0 : bootstrap->sent().queued);
    }
    return waiting < most_waiting;
}

uct::ep* peer::lane_for_refusal() {
    if (am_.endpoint != nullptr && joined()) return am_.endpoint.get();
    if (pairing_ == nullptr) {
        pairing_ = std::make_unique<wireup::pairing>();
        pairing_->state = pairing_state::refusing;
    }
    const bool has_lane = pairing_->bootstrap.endpoint != nullptr;
    if (!has_lane && open_bootstrap() != UCS_OK) return nullptr;
    return pairing_->bootstrap.endpoint.get();
}

// The peer may have closed its lanes without being able to notify us. If we wait for `joined`, we
// repeat our reply; the peer refuses it if it does not wait for it. If the lanes are joined,
// checking them tells.
bool peer::accepts_connection_message(bool over_pair) noexcept {
    if (!in_pairs()) return !over_pair;
    if (over_pair) {
        pairing_->peer_notices_end = pairing_->peer_notices_end || joined();
        return joined();
    }
    pairing_->has_dropped_message = true;
    if (pairing_->state == pairing_state::replied) send_request_or_reply();
    if (pairing_->state == pairing_state::joined) am_.endpoint->check();
    return false;
}

void peer::release_pairing_reference() noexcept {
    if (pairing_ == nullptr || !pairing_->holds_peer) return;
    pairing_->holds_peer = false;
    release();
}

// Joined lanes tell the peer by themselves that they are closed.
void peer::give_up_pairing() noexcept {
    if (pairing_ == nullptr) return;
    if (pairing_->state == pairing_state::replied) notify_peer(wireup_type::unpaired);
    release_pairing_reference();
    pairing_->postponed.reset();
    pairing_->has_dropped_message = false;
    pairing_->peer_notices_end = true;
}

void peer::check() noexcept {
    if (joined()) {
        am_.endpoint->check();
        return;
    }
    // A late requester finds the lanes closed and sends a new request.
    constexpr unsigned enough = 2 * keepalive::checks_per_interval;
    if (pairing_->holds_peer && ++pairing_->checks > enough) {
        release_pairing_reference();
    } else {
        pairing_->bootstrap.endpoint->check();
    }
}

// If a pair request is postponed, replying to it notifies the peer as well.
bool peer::notify_before_destruction() noexcept {
    if (dead_ || !must_notify_peer() || pairing_->postponed != nullptr) return false;
    // Messages that were sent over joined lanes may still be on their way.
    const bool are_joined = joined() && pairing_->peer_notices_end;
    notify_peer(are_joined ? wireup_type::pair : wireup_type::unpaired);
    pairing_->state = pairing_state::refusing;
    close_rails();
    close(am_);
    close(rma_);
    return is_held();
}

// Returns whether the peer must be notified of the end of the lanes: the peer may not notice it by
// itself, or waits for an answer to a message that was dropped.
bool peer::must_notify_peer() const noexcept {
    if (pairing_ == nullptr || pairing_->state == pairing_state::refusing) return false;
    return pairing_->has_dropped_message || !pairing_->peer_notices_end;
}

// Tells the peer that our end of the lanes is over. As long as the peer sends nothing it may not
// notice that its end leads nowhere.
void peer::notify_peer(wireup_type type) noexcept {
    if (pairing_ == nullptr || pairing_->state == pairing_state::refusing) return;
    try_to_notify(uid_, [&] {
        if (pairing_->bootstrap.endpoint == nullptr && open_bootstrap() != UCS_OK) return;
        uct::ep& over = *pairing_->bootstrap.endpoint;
        if (type == wireup_type::pair) {
            send_pair_without_lanes(over);
        } else {
            send_pair_message(type, pairing_->attempt,
                              static_cast<std::uint64_t>(unpaired_reason::cannot), over);
        }
    });
}

// Notifies the peer that the lanes of this attempt, which are gone already, are over. Not needed if
// there are lanes without pairs now, because making them has sent that notice.
void peer::notify_attempt_over(std::uint64_t attempt) noexcept {
    if (pairing_ == nullptr && am_.endpoint != nullptr) return;
    try_to_notify(uid_, [&] { refuse_pairing(attempt); });
}

// The peer has closed its end of the lanes in order. Our endpoints that are not connected yet
// continue with a new peer object and new lanes.
void peer::on_peer_left() noexcept {
    const peer_use kept(*this);
    owner_.forget(*this);
    const auto postponed = take_postponed();
    const bool has_new_request = postponed != nullptr;
    if (has_new_request) owner_.answer_postponed(*postponed);
    try {
        peer* fresh = nullptr;
        for (auto next = endpoints_.begin(); next != endpoints_.end();) {
            ep& each = *next++;
            if (!wireup::is_waiting(each.connection())) continue;
            if (fresh == nullptr) fresh = &owner_.intern(identity_, source_, packed_);
            each.move_to(*fresh);
        }
        if (fresh != nullptr) fresh->connect_endpoints(wireup::pairs::allowed);
    } catch (const std::bad_alloc&) {
        ucs::log::error(wireup_log, "out of memory: no new connection to worker {:x} is made",
                        uid_);
    }
    fail_all(UCS_ERR_NOT_CONNECTED);
    if (pairing_->has_dropped_message && !has_new_request) notify_peer(wireup_type::unpaired);
}

}  // namespace ucp
