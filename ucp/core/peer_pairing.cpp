// Connecting lanes that come in pairs with the peer's: members of ucp::peer. See
// ucp/wireup/pairing.hpp for who says what.
#include <algorithm>
#include <new>
#include <utility>

#include "ucp/core/keepalive.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/peer.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucs/sys/uuid.hpp"
#include "ucs/time/clock.hpp"

namespace ucp {

using step = wireup::pairing::step;
using wire::unpaired_reason;
using wire::wireup_type;

namespace {

// A question is not repeated sooner, however many endpoints wait for it.
constexpr ucs::time::nanoseconds patience = ucs::time::second;

std::vector<std::byte> address_of(const uct::iface& which) {
    std::vector<std::byte> made(which.attr().address_length);
    which.pack_address(made);
    return made;
}

std::vector<std::byte> connection_of(const uct::ep& which, const uct::iface_attr& attr) {
    std::vector<std::byte> made(attr.connection_length);
    which.pack_connection(made);
    return made;
}

// That lanes are over. Without memory for it the peer finds out by itself, or asks again.
template<class Tell>
void try_to_tell(std::uint64_t whom, const Tell& tell) noexcept {
    try {
        tell();
    } catch (const std::bad_alloc&) {
        ucs::log::debug(wireup_log, "out of memory: worker {:x} is not told that lanes are over",
                        whom);
    }
}

}  // namespace

void peer::say(wireup_type what, std::uint64_t attempt, std::uint64_t last, uct::ep& over,
               std::span<const std::byte> body) noexcept {
    wire::wireup_header header{what, {}, owner_.uid(), uid_, attempt, last};
    seal(header, body);
    send_over(over, {wire::wireup, std::as_bytes(std::span(&header, 1)), body, 0});
}

// Question or answer.
void peer::say_again() noexcept {
    const wireup_type what = pairing_->at == step::asked ? wireup_type::pair : wireup_type::paired;
    pairing_->said_at = ucs::time::now();
    say(what, pairing_->attempt, 0, *pairing_->bootstrap.endpoint, pairing_->said);
}

// Our endpoints are made. False: a resource was excluded, or the lane has failed. Who asks with
// itself has one endpoint that is both halves, and no use for rails.
bool peer::begin_pairing(const wireup::lane_choice& bootstrap,
                         const wireup::lane_selection& chosen) {
    if (is_self()) return pair_with_itself();
    pairing_ = std::make_unique<wireup::pairing>();
    pairing_->at = step::asked;
    pairing_->attempt = ucs::sys::random_id();
    if (!open(bootstrap, pairing_->bootstrap)) return false;
    last_attempt_ = pairing_->attempt;
    std::vector<asked_lane> asked;
    asked.push_back(describe(am_, chosen.am->address));
    for (const wireup::lane_choice& each : chosen.more_rails) {
        lane made;
        if (make(each.resource, each.address, made) != UCS_OK) continue;
        more_rails_.push_back(std::move(made));
        asked.push_back(describe(more_rails_.back(), each.address));
    }
    wireup::pair_question question{{}, owner_.address(false)};
    for (const asked_lane& each : asked)
        question.lanes.push_back(
            {each.transport, each.to, each.from, each.connection, each.device});
    pairing_->said = wireup::pack(question);
    say_again();
    return true;
}

peer::asked_lane peer::describe(const lane& ours, std::span<const std::byte> to) const {
    return {owner_.owner().resources()[ours.resource].where.transport, to,
            address_of(*owner_.interface(ours.resource)),
            connection_of(*ours.endpoint, attr_of(ours)), own_device(ours)};
}

// Both halves are one, on one device, whichever of ours was found first.
bool peer::pair_with_itself() {
    const std::size_t resource = am_.resource;
    close(am_);
    if (!open({resource, address_of(*owner_.interface(resource))}, am_)) return false;
    const ucs_status_t status = am_.endpoint->connect_to(connection_of(*am_.endpoint, am_attr()));
    am_.device = own_device(am_);
    if (status != UCS_OK) excluded_.push_back({am_.resource, status});
    return status == UCS_OK;
}

void peer::ask_to_pair_again() noexcept {
    const bool asks = pairing_ != nullptr && pairing_->at == step::asked;
    if (asks && ucs::time::now() - pairing_->said_at >= patience) say_again();
}

void peer::asked_to_pair(const wire::wireup_header& header, const wireup::pair_question& theirs,
                         std::span<const std::byte> body) {
    const std::uint64_t attempt = header.ep;
    if (theirs.lanes.empty()) {
        told_without_pairs(attempt);
        return;
    }
    if (pairing_ != nullptr && pairing_->attempt == attempt) {
        if (pairing_->at == step::answered) say_again();  // the answer was lost, or is on its way
        return;
    }
    if (pairing_ != nullptr && pairing_->at == step::asked && owner_.uid() < uid_) {
        return;  // our question counts, and the peer answers it
    }
    // One that stands is not given up for a question, which may be older than it.
    if (pairing_ != nullptr && pairing_->at == step::joined) {
        put_off(header, body);
        return;
    }
    // Nor are others that somebody has asked over: whoever hears that is ready for us there.
    if (pairing_ == nullptr && am_.endpoint != nullptr && wanted()) {
        refuse_to_pair(attempt);
        return;
    }
    const peer_use kept(*this);
    // Our own question is void. Whoever gets it late hears so over the same lane, behind it.
    const bool asks = pairing_ != nullptr && pairing_->at == step::asked;
    const std::uint64_t void_attempt = asks ? pairing_->attempt : 0;
    lane bootstrap = asks ? std::move(pairing_->bootstrap) : lane{};
    disconnect();
    if (accept_pairs(attempt, theirs, bootstrap) == UCS_OK) {
        if (asks) {
            say(wireup_type::unpaired, void_attempt,
                static_cast<std::uint64_t>(unpaired_reason::cannot), *pairing_->bootstrap.endpoint);
        }
    } else {
        close(bootstrap);
        reconnect(wireup::pairs::excluded);
        return;
    }
    serve(wireup::pairs::allowed);
}

// The peer has lost its half of our lanes, or somebody says so: the lanes know.
void peer::put_off(const wire::wireup_header& header, std::span<const std::byte> body) {
    pairing_->next = std::make_unique<wireup::pairing::question>(
        wireup::pairing::question{header, std::vector<std::byte>(body.begin(), body.end())});
    am_.endpoint->check();
}

// What was made before memory ran out goes with the rest, and the question is refused. Without
// memory even for a pairing nobody is told: the question comes again.
ucs_status_t peer::accept_pairs(std::uint64_t attempt, const wireup::pair_question& theirs,
                                lane& bootstrap) noexcept {
    try {
        return make_halves(attempt, theirs, bootstrap);
    } catch (const std::bad_alloc&) {
        return UCS_ERR_NO_MEMORY;
    }
}

// `bootstrap` is taken, if there is one.
ucs_status_t peer::make_halves(std::uint64_t attempt, const wireup::pair_question& theirs,
                               lane& bootstrap) {
    pairing_ = std::make_unique<wireup::pairing>();
    pairing_->at = step::answered;
    pairing_->attempt = attempt;
    last_attempt_ = attempt;
    pairing_->keeps_peer = true;
    pairing_->bootstrap = std::move(bootstrap);
    hold();
    if (theirs.lanes.empty()) return UCS_ERR_UNSUPPORTED;
    ucs_status_t status = accept_pair(theirs.lanes.front(), am_);
    const bool has_bootstrap = pairing_->bootstrap.endpoint != nullptr;
    if (status == UCS_OK && !has_bootstrap) status = open_bootstrap();
    if (status != UCS_OK) return status;
    shared_lane_ = am_attr().keyed;
    choose_protocols();
    pairing_->said = answer_for(std::span(theirs.lanes).subspan(1));
    say_again();
    owner_.watch().add(*this);
    return UCS_OK;
}

// The lane of messages stands; a rail that cannot be made is left out.
std::vector<std::byte> peer::answer_for(std::span<const wireup::pair_lane> rails) {
    std::vector<std::vector<std::byte>> ours{connection_of(*am_.endpoint, am_attr())};
    wireup::pair_answer answer{{ours.front(), own_device(am_)}};
    for (const wireup::pair_lane& each : rails) {
        lane made;
        if (may_accept_rail(each) && accept_pair(each, made) == UCS_OK) {
            ours.push_back(connection_of(*made.endpoint, attr_of(made)));
            answer.push_back({ours.back(), own_device(made)});
            more_rails_.push_back(std::move(made));
        } else {
            close(made);
            answer.push_back({{}, mem::no_device});
        }
    }
    return wireup::pack(answer);
}

// No more of them than we would ask for, and each of devices that no other one has.
bool peer::may_accept_rail(const wireup::pair_lane& asked) const {
    const auto& resources = owner_.owner().resources();
    const std::size_t most = owner_.owner().options().rails();
    if (!shared_lane_ || 1 + more_rails_.size() >= most) return false;
    const auto collides = [&](const lane& each) {
        return each.device == asked.device ||
               std::ranges::equal(address_of(*owner_.interface(each.resource)), asked.to);
    };
    return asked.transport == resources[am_.resource].where.transport && !collides(am_) &&
           std::ranges::none_of(more_rails_, collides);
}

ucs_status_t peer::accept_pair(const wireup::pair_lane& asked, lane& into) {
    const auto& resources = owner_.owner().resources();
    for (std::size_t i = 0; i < owner_.interface_count(); ++i) {
        uct::iface* const each = owner_.interface(i);
        const bool meant = each != nullptr && each->attr().connection_length > 0 &&
                           resources[i].where.transport == asked.transport &&
                           std::ranges::equal(address_of(*each), asked.to);
        if (!meant) continue;
        if (!each->check_reachable(asked.from).ok()) return UCS_ERR_UNREACHABLE;
        const ucs_status_t status = make(i, asked.from, into);
        if (status != UCS_OK) return status;
        into.device = asked.device;
        return into.endpoint->connect_to(asked.connection);
    }
    return UCS_ERR_NO_DEVICE;
}

// To answer by.
ucs_status_t peer::open_bootstrap() {
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    if (!remote) return remote.status();
    for (;;) {
        const auto chosen = select_lanes_to(*remote, wireup::pairs::allowed).bootstrap;
        if (!chosen) return UCS_ERR_UNREACHABLE;
        if (open(*chosen, pairing_->bootstrap)) return UCS_OK;
    }
}

void peer::paired(std::uint64_t attempt, const wireup::pair_answer& theirs) {
    if (pairing_ == nullptr || pairing_->attempt != attempt) {
        // To a question that was void when it came, behind what made it void: they would wait for
        // ever.
        const peer_use kept(*this);
        refuse_to_pair(attempt);
        return;
    }
    if (pairing_->at != step::asked) return;
    const ucs_status_t status = theirs.size() == 1 + more_rails_.size()
                                    ? am_.endpoint->connect_to(theirs.front().connection)
                                    : UCS_ERR_INVALID_ADDR;
    if (status != UCS_OK) {
        change_lanes(am_.resource, status, wireup::pairs::allowed);
        return;
    }
    am_.device = theirs.front().device;
    connect_rails(theirs);
    const peer_use kept(*this);
    say(wireup_type::joined, attempt, 0, *am_.endpoint);
    join();
}

// Rails that the peer could not make, or that cannot be connected, are left out.
void peer::connect_rails(const wireup::pair_answer& theirs) {
    for (std::size_t i = more_rails_.size(); i > 0; --i) {
        lane& ours = more_rails_[i - 1];
        const wireup::pair_half& half = theirs[i];
        ours.device = half.device;
        const bool made = ours.endpoint != nullptr && !half.connection.empty();
        if (made && ours.endpoint->connect_to(half.connection) == UCS_OK) continue;
        const auto& where = owner_.owner().resources()[ours.resource].where;
        ucs::log::info(wireup_log, "worker {:x} has no rail over {}/{}", uid_, where.transport,
                       where.device);
        lane gone = std::move(ours);
        more_rails_.erase(more_rails_.begin() + static_cast<std::ptrdiff_t>(i - 1));
        close(gone);
    }
}

void peer::partner_joined(std::uint64_t attempt) {
    if (pairing_ == nullptr || pairing_->at != step::answered || pairing_->attempt != attempt)
        return;
    const peer_use kept(*this);
    pairing_->aware = true;
    join();
}

void peer::join() noexcept {
    pairing_->at = step::joined;
    close(pairing_->bootstrap);
    pairing_->said = {};
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

// What waits for room on the bootstrap lane.
void peer::take_queue(wireup::pairing& from, held_list& into) noexcept {
    if (from.bootstrap.endpoint == nullptr) return;
    from.bootstrap.endpoint->pending_purge(
        [](uct::pending_request& queued, void* list) {
            static_cast<held_list*>(list)->push_back(queued);
        },
        &into);
}

// The peer has left lanes that we have, too. If they are not ours it may have dropped what we said
// until then: it hears again what we wait for.
bool peer::is_ours(std::uint64_t given_up) noexcept {
    if (pairing_ == nullptr) {
        say_requests_again();
        return false;
    }
    if (pairing_->next != nullptr && pairing_->next->header.ep == given_up) pairing_->next.reset();
    const bool ours = pairing_->attempt == given_up && pairing_->at != step::refusing;
    if (ours) pairing_->aware = true;
    if (!ours && pairing_->at == step::asked) say_again();
    return ours;
}

void peer::say_requests_again() noexcept {
    if (am_.endpoint != nullptr) serve(wireup::pairs::excluded);
}

void peer::unpaired(std::uint64_t attempt, unpaired_reason why) {
    const peer_use kept(*this);
    if (!is_ours(attempt)) return;
    if (pairing_->at == step::answered) {
        reconnect(wireup::pairs::allowed);  // whoever asked has given up
        return;
    }
    if (pairing_->at == step::joined) {
        partner_failed();
        return;
    }
    if (why == unpaired_reason::not_here) {
        wireup::tell_unreachable(owner_, *this);
        fail_all(UCS_ERR_UNREACHABLE);
        return;
    }
    const auto& where = owner_.owner().resources()[am_.resource].where;
    ucs::log::info(wireup_log, "worker {:x} cannot be reached over {}/{}, it says: trying another",
                   uid_, where.transport, where.device);
    change_lanes(am_.resource, UCS_ERR_REJECTED, wireup::pairs::allowed);
}

// Its half is over, and so is ours.
void peer::partner_failed() noexcept {
    if (pairing_->next != nullptr) {
        partner_left();
        return;
    }
    const bool missed = pairing_->missed;
    lane_lost(am_.resource, UCS_ERR_CONNECTION_RESET);
    if (dead_ && missed) tell_partner(wireup_type::unpaired);
}

// `since`: the last attempt that the peer knew when it said so. What it has agreed to meanwhile
// stands: it goes by another lane, and may have overtaken this.
void peer::told_without_pairs(std::uint64_t since) {
    if (!is_ours(since)) return;
    if (in_use()) {
        am_.endpoint->check();  // what it sent over them comes first
    } else {
        reconnect(wireup::pairs::excluded);
    }
}

// Lanes that the peer knows of, of the last attempt, are no more.
void peer::tell_without_pairs(uct::ep& over) {
    say(wireup_type::pair, std::exchange(last_attempt_, 0), 0, over,
        wireup::pack(wireup::pair_question{{}, owner_.address(false)}));
}

void peer::refuse_to_pair(std::uint64_t attempt) {
    uct::ep* const over = lane_to_refuse_by();
    if (over == nullptr) return;
    say(wireup_type::unpaired, attempt, static_cast<std::uint64_t>(unpaired_reason::cannot), *over);
}

// The header names the worker that was asked as its sender: the asker knows no other.
void peer::refuse_to_pair(const wire::wireup_header& unwanted) {
    uct::ep* const over = lane_to_refuse_by();
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
           (pairing_->next != nullptr && pairing_->next->header.ep == attempt);
}

// Nothing waits where there is no lane.
bool peer::has_room_for_strangers() const noexcept {
    constexpr std::size_t most_waiting = 256;
    std::size_t waiting = am_.endpoint == nullptr ? 0 : am_.endpoint->sent().queued;
    if (pairing_ != nullptr) {
        const uct::ep* const bootstrap = pairing_->bootstrap.endpoint.get();
        waiting += pairing_->held.size() + (bootstrap == nullptr ? 0 : bootstrap->sent().queued);
    }
    return waiting < most_waiting;
}

uct::ep* peer::lane_to_refuse_by() {
    if (am_.endpoint != nullptr && joined()) return am_.endpoint.get();
    if (pairing_ == nullptr) {
        pairing_ = std::make_unique<wireup::pairing>();
        pairing_->at = step::refusing;
    }
    const bool has_lane = pairing_->bootstrap.endpoint != nullptr;
    if (!has_lane && open_bootstrap() != UCS_OK) return nullptr;
    return pairing_->bootstrap.endpoint.get();
}

// Whoever has left the lanes may have been unable to tell. One that we wait for hears the answer
// again, and says whether it still waits for that; lanes that are joined know.
bool peer::takes_word(bool over_pair) noexcept {
    if (!in_pairs()) return !over_pair;
    if (over_pair) {
        pairing_->aware = pairing_->aware || joined();
        return joined();
    }
    pairing_->missed = true;
    if (pairing_->at == step::answered) say_again();
    if (pairing_->at == step::joined) am_.endpoint->check();
    return false;
}

void peer::stop_keeping() noexcept {
    if (pairing_ == nullptr || !pairing_->keeps_peer) return;
    pairing_->keeps_peer = false;
    release();
}

// Lanes that stand tell the peer themselves that they are closed.
void peer::give_up_pairs() noexcept {
    if (pairing_ == nullptr) return;
    if (pairing_->at == step::answered) tell_partner(wireup_type::unpaired);
    stop_keeping();
    pairing_->next.reset();
    pairing_->missed = false;
    pairing_->aware = true;
}

void peer::check() noexcept {
    if (joined()) {
        am_.endpoint->check();
        return;
    }
    // An asker that is late finds the lanes closed, and asks again.
    constexpr unsigned enough = 2 * keepalive::looks_per_interval;
    if (pairing_->keeps_peer && ++pairing_->looks > enough) {
        stop_keeping();
    } else {
        pairing_->bootstrap.endpoint->check();
    }
}

// A question that waits is answered instead, and tells the peer as much.
bool peer::gives_up() noexcept {
    if (dead_ || !owes_a_word() || pairing_->next != nullptr) return false;
    // What was sent over lanes that stand may still be on its way.
    const bool stand = joined() && pairing_->aware;
    tell_partner(stand ? wireup_type::pair : wireup_type::unpaired);
    pairing_->at = step::refusing;
    close_rails();
    close(am_);
    close(rma_);
    return is_held();
}

// When the lanes are over: the peer may not notice it by itself, or waits for an answer to what was
// dropped.
bool peer::owes_a_word() const noexcept {
    if (pairing_ == nullptr || pairing_->at == step::refusing) return false;
    return pairing_->missed || !pairing_->aware;
}

// That our half is over: as long as it sends nothing it may not see that its own leads nowhere.
void peer::tell_partner(wireup_type what) noexcept {
    if (pairing_ == nullptr || pairing_->at == step::refusing) return;
    try_to_tell(uid_, [&] {
        if (pairing_->bootstrap.endpoint == nullptr && open_bootstrap() != UCS_OK) return;
        uct::ep& over = *pairing_->bootstrap.endpoint;
        if (what == wireup_type::pair) {
            tell_without_pairs(over);
        } else {
            say(what, pairing_->attempt, static_cast<std::uint64_t>(unpaired_reason::cannot), over);
        }
    });
}

// The lanes of this attempt are gone already. Others that need no pairs began with that word.
void peer::tell_of(std::uint64_t attempt) noexcept {
    if (pairing_ == nullptr && am_.endpoint != nullptr) return;
    try_to_tell(uid_, [&] { refuse_to_pair(attempt); });
}

// The peer has closed all that it had on its half of the lanes. Whoever of ours asked afterwards,
// or has asked for nothing yet, goes on with a new half.
void peer::partner_left() noexcept {
    const peer_use kept(*this);
    owner_.forget(*this);
    const auto asked = take_next();
    const bool asks_anew = asked != nullptr;
    if (asks_anew) owner_.answer(*asked);
    try {
        peer* fresh = nullptr;
        for (auto next = endpoints_.begin(); next != endpoints_.end();) {
            ep& each = *next++;
            if (!wireup::is_waiting(each.connection())) continue;
            if (fresh == nullptr) fresh = &owner_.intern(identity_, source_, packed_);
            each.move_to(*fresh);
        }
        if (fresh != nullptr) fresh->serve(wireup::pairs::allowed);
    } catch (const std::bad_alloc&) {
        ucs::log::error(wireup_log, "out of memory: worker {:x} is not connected to again", uid_);
    }
    fail_all(UCS_ERR_NOT_CONNECTED);
    if (pairing_->missed && !asks_anew) tell_partner(wireup_type::unpaired);
}

}  // namespace ucp
