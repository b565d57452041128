#include "ucp/wireup/lane_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/proto/striped.hpp"
#include "ucp/proto/tables.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp::wireup {

ucs_status_t lane_setup::connect(pairs allowed_pairs) noexcept {
    if (peer_.lanes().is_open()) return UCS_OK;
    if (peer_.identity().packed().empty()) return UCS_ERR_NOT_CONNECTED;
    excluded_.clear();  // a resource that failed before, for lack of a descriptor say, may work now
    return connect_over_what_is_left(allowed_pairs);
}

ucs_status_t lane_setup::connect_over_what_is_left(pairs allowed_pairs) noexcept {
    control_channel::message_list refusals;  // they may still wait on the bootstrap lane
    if (peer_.lanes().bootstrap.is_open())
        control_channel::take_queue(*peer_.lanes().bootstrap.endpoint, refusals);
    if (slot_of<pairing>(peer_).state() != pairing_state::none) disconnect();
    const ucs_status_t status = try_to_make_lanes(allowed_pairs);
    if (status == UCS_OK) {
        const lane& bootstrap = peer_.lanes().bootstrap;
        control_channel::release_all(
            refusals, slot_of<pairing>(peer_).is_open() ? peer_.lanes().am() : *bootstrap.endpoint);
    } else {
        control_channel::drop_all(refusals);
    }
    return status;
}

ucs_status_t lane_setup::try_to_make_lanes(pairs allowed_pairs) noexcept {
    try {
        return make_lanes(allowed_pairs);
    } catch (const std::bad_alloc&) {
        ucs::log::error(wireup_log, "out of memory: worker {:x} cannot be connected to",
                        peer_.uid());
        disconnect();
        return UCS_ERR_NO_MEMORY;
    }
}

ucs_status_t lane_setup::make_lanes(pairs allowed_pairs) {
    const auto remote = peer_.identity().parse();
    if (!remote) return remote.status();
    const lane_selection chosen = select(*remote, allowed_pairs);
    if (!chosen.am) {
        peer_.owner().log().unreachable().error(wireup_log, "worker {:x} ({}) is unreachable: {}",
                                                peer_.uid(), remote->name,
                                                fmt::join(explain_each(peer_, chosen), "; "));
        return UCS_ERR_UNREACHABLE;
    }
    peer_lanes& lanes = peer_.lanes();
    bool made = open(*chosen.am, lanes.message);
    if (made && chosen.paired) {
        made = peer_.identity().is_self()
                   ? pair_with_itself()
                   : slot_of<pairing>(peer_).begin(*chosen.bootstrap, chosen);
    }
    if (!made) {
        disconnect();
        return make_lanes(allowed_pairs);  // terminates: every turn excludes one more resource
    }
    lanes.is_shared =
        chosen.rma && lanes.am_attr().keyed && chosen.rma->resource == lanes.message.resource;
    const bool opens_rma = chosen.rma && !lanes.is_shared && lanes.state == rma_state::usable;
    if (opens_rma && !open(*chosen.rma, lanes.memory)) lanes.state = rma_state::no_endpoint;
    // Without it, data of devices goes through the memory of the host.
    if (chosen.device && open(*chosen.device, lanes.device))
        lanes.device.device = mem::cuda_devices;
    if (lanes.state == rma_state::usable && reaches_unknown_process())
        lanes.state = rma_state::process_not_shown;
    choose_protocols();
    if (!chosen.paired) slot_of<pairing>(peer_).notify_without_pairs();
    return UCS_OK;
}

bool lane_setup::open(const lane_choice& choice, lane& into) {
    const ucs_status_t status = make(choice.resource, choice.address, into);
    if (status != UCS_OK) excluded_.push_back({choice.resource, status});
    return status == UCS_OK;
}

// The endpoint is connected to itself. Both ends are on one device, whichever of our devices was
// found first. Rails are not used.
bool lane_setup::pair_with_itself() {
    lane& ours = peer_.lanes().message;
    const lane_choice itself{ours.resource, address_of(*ours.iface)};
    close(ours);
    if (!open(itself, ours)) return false;
    ours.device = ours.own_device;
    const ucs_status_t status = ours.endpoint->connect_to(connection_of(ours));
    if (status != UCS_OK) excluded_.push_back({ours.resource, status});
    return status == UCS_OK;
}

// The transport logs failures.
ucs_status_t lane_setup::make(std::size_t resource, std::span<const std::byte> to, lane& into) {
    worker& owner = peer_.owner();
    uct::iface* const iface = owner.interfaces().at(resource);
    auto made = iface->create_ep(to);
    if (!made) return made.status();
    into = {std::move(*made), iface, resource, owner.owner().resources()[resource].memory};
    owner.interfaces().track_lane(*into.endpoint, resource, &peer_);
    owner.interfaces().activate(resource);
    return UCS_OK;
}

void lane_setup::close(lane& used) noexcept {
    if (!used.is_open()) return;
    auto& striped = slot_of<striped_transfers>(peer_).list;
    for (auto next = striped.begin(); next != striped.end();)
        (next++)->lane_lost(*used.endpoint);
    used.endpoint->pending_purge(control_channel::drop, nullptr);
    peer_.owner().interfaces().track_lane(*used.endpoint, used.resource, nullptr);
    used.endpoint.reset();
}

lane_selection lane_setup::select(const address::worker_address& remote,
                                  pairs allowed_pairs) const {
    std::vector<local_interface> local;
    const worker& owner = peer_.owner();
    const auto& resources = owner.owner().resources();
    for (std::size_t i = 0; i < owner.interfaces().size(); ++i) {
        const uct::iface* const each = owner.interfaces().at(i);
        if (each == nullptr || !each->attr().reaches_peers()) continue;
        const auto failed = std::find_if(excluded_.begin(), excluded_.end(),
                                         [i](const excluded& one) { return one.resource == i; });
        local.push_back({each, resources[i].where.transport, resources[i].where.device, i,
                         failed == excluded_.end() ? UCS_OK : failed->failure,
                         resources[i].only_connects, owner.interfaces().extra_latency(i)});
    }
    return select_lanes(local, remote, allowed_pairs, owner.owner().options().rails());
}

void lane_setup::choose_protocols() {
    const peer_lanes& lanes = peer_.lanes();
    protocols_ = &slot_of<protocol_tables>(peer_.owner())
                      .find(lanes.am_attr(), lanes.rma() != nullptr ? &lanes.rma_attr() : nullptr,
                            lanes.device.is_open() ? &lanes.device.attr() : nullptr);
}

void lane_setup::choose_protocols_again() noexcept {
    if (!ucs::allocated([this] { choose_protocols(); })) {
        // Protocols that were chosen with another memory lane work as well.
        ucs::log::debug(wireup_log, "out of memory: protocols to worker {:x} stay", peer_.uid());
    }
    for (ep& each : peer_.endpoints())
        slot_of<short_path>(each).refresh(each);
}

bool lane_setup::reaches_unknown_process() noexcept {
    lane& memory = peer_.lanes().memory;
    return memory.is_open() && !memory.endpoint->bind_to(process_);
}

void lane_setup::learn_process(const ucs::sys::process_identity& shown) noexcept {
    if (shown.pid == 0) return;
    process_ = shown;
    if (peer_.lanes().state != rma_state::process_not_shown) return;
    if (reaches_unknown_process()) {
        ucs::log::info(wireup_log,
                       "worker {:x} is process {}, and its address names another one for access to "
                       "memory: data is copied through messages",
                       peer_.uid(), shown.pid);
        return;
    }
    peer_.lanes().state = rma_state::usable;
    choose_protocols_again();
}

bool lane_setup::readdress(std::span<const std::byte> packed_address) {
    peer_identity& identity = peer_.identity();
    if (identity.has_address(packed_address) || is_any_established(peer_)) return false;
    const bool has_lanes =
        peer_.lanes().is_open() || slot_of<pairing>(peer_).state() != pairing_state::none;
    const bool is_other = !identity.is_part_of(packed_address);
    if (has_lanes && !is_other) return false;
    identity.replace_address(packed_address);
    if (!is_other) return false;
    // Failures until now concern the old address.
    excluded_.clear();
    peer_.lanes().state = rma_state::usable;
    if (!has_lanes) return true;
    for (ep& each : peer_.endpoints())
        renew_id(each);
    reconnect(pairs::allowed);
    return true;
}

void lane_setup::close_lanes() noexcept {
    peer_lanes& lanes = peer_.lanes();
    while (!lanes.more_rails.empty()) {
        lane last = std::move(lanes.more_rails.back());
        lanes.more_rails.pop_back();
        close(last);
    }
    close(lanes.message);
    close(lanes.memory);
    close(lanes.device);
}

std::uint64_t lane_setup::disconnect() noexcept {
    peer_.control().drop_waiting();
    for (ep& each : peer_.endpoints())
        forget_lane(each);
    close_lanes();
    rma_state& state = peer_.lanes().state;
    if (state == rma_state::process_not_shown) state = rma_state::usable;
    return slot_of<pairing>(peer_).close();
}

// The transfers of the rail continue over the other rails.
void lane_setup::drop_rail(std::size_t index, ucs_status_t why) noexcept {
    std::vector<lane>& rails = peer_.lanes().more_rails;
    if (slot_of<pairing>(peer_).state() == pairing_state::requested) {
        close(rails[index]);  // the reply lists the rail by its position, so it stays in the list
        return;
    }
    lane gone = std::move(rails[index]);
    rails.erase(rails.begin() + static_cast<std::ptrdiff_t>(index));
    const auto& where = peer_.owner().owner().resources()[gone.resource].where;
    const bool expected = peer_.dead() || why == UCS_ERR_NOT_CONNECTED;
    ucs::log::log(
        wireup_log, expected ? ucs::log::level::debug : ucs::log::level::warn,
        "the rail {}/{} to worker {:x} was lost: {}; transfers continue over the other rails",
        where.transport, where.device, peer_.uid(), ucs_status_string(why));
    close(gone);
}

void lane_setup::drop_rma(rma_state why) noexcept {
    const lane& memory = peer_.lanes().memory;
    if (!memory.is_open() || peer_.lanes().state != rma_state::usable) return;
    peer_.lanes().state = why;
    peer_.owner().log().count(activity::refused_reads);
    ucs::log::info(wireup_log, "worker {:x}: {} is not used any more: {}; data is copied instead",
                   peer_.uid(), peer_.owner().owner().resources()[memory.resource].where.transport,
                   text_of(why));
    choose_protocols_again();
}

// Another lane may be tried while no endpoint is established and at least one wants to connect.
bool lane_setup::may_change_lane() const noexcept {
    return !peer_.control().has_lost() && is_any_wanted(peer_) && !is_any_established(peer_);
}

void lane_setup::lane_failed(const uct::ep& failed, ucs_status_t status) noexcept {
    peer_lanes& lanes = peer_.lanes();
    if (&failed == lanes.memory.endpoint.get()) {
        ucs::log::debug(wireup_log, "worker {:x}: the lane for memory access failed: {}",
                        peer_.uid(), ucs_status_string(status));
        drop_rma(rma_state::endpoint_failed);
        return;
    }
    if (&failed == lanes.device.endpoint.get()) {
        ucs::log::debug(wireup_log, "worker {:x}: the lane to memory of its devices failed: {}",
                        peer_.uid(), ucs_status_string(status));
        return;  // each of its operations reports the error, and goes another way
    }
    for (std::size_t i = 0; i < lanes.more_rails.size(); ++i) {
        if (&failed != lanes.more_rails[i].endpoint.get()) continue;
        drop_rail(i, status);
        return;
    }
    const bool is_bootstrap = &failed == lanes.bootstrap.endpoint.get();
    if (peer_.dead()) {
        if (is_bootstrap) peer_.control().drop_waiting();  // the peer need not be notified any more
        return;
    }
    pairing& pair = slot_of<pairing>(peer_);
    const bool left = status == UCS_ERR_NOT_CONNECTED ||
                      pair.state() == pairing_state::postponed;  // requests new lanes
    if (left && pair.state() != pairing_state::none && !is_bootstrap) {
        pair.handle(pairing_event::peer_left);
        return;
    }
    const peer_use kept(peer_);
    lane_lost(is_bootstrap ? lanes.bootstrap.resource : lanes.message.resource, status);
    if (peer_.dead() && !is_bootstrap) pair.notify_end();
}

void lane_setup::lane_lost(std::size_t resource, ucs_status_t status) noexcept {
    const auto& where = peer_.owner().owner().resources()[resource].where;
    // If memory lacks for one lane, it lacks for another as well.
    if (status == UCS_ERR_NO_MEMORY || !may_change_lane()) {
        // After an orderly close only operations that are still under way miss the peer, and they
        // get the error. A peer that passed a limit has had its line.
        const bool expected = status == UCS_ERR_NOT_CONNECTED || !peer_.control().is_sent();
        const auto severity = peer_.refused_hook.is_linked() ? ucs::log::level::debug
                              : expected                     ? ucs::log::level::info
                                                             : ucs::log::level::warn;
        ucs::log::log(wireup_log, severity,
                      "the connection to {}, worker {:x}, over {}/{} was lost: {}",
                      peer_.lanes().peer_name(), peer_.uid(), where.transport, where.device,
                      ucs_status_string(status));
        peer_.fail_all(status);
        return;
    }
    ucs::log::info(wireup_log,
                   "worker {:x} could not be reached over {}/{} ({}): trying another transport",
                   peer_.uid(), where.transport, where.device, ucs_status_string(status));
    change_lanes(resource, status);
}

void lane_setup::change_lanes(std::size_t without, ucs_status_t failure) noexcept {
    if (exclude(without, failure)) {
        reconnect(pairs::allowed);
    } else {
        peer_.fail_all(failure);
    }
}

void lane_setup::reconnect(pairs allowed_pairs) noexcept {
    const peer_use kept(peer_);
    const std::uint64_t left = disconnect();
    if (is_any_wanted(peer_)) connect_endpoints(allowed_pairs);
    if (left != 0) slot_of<pairing>(peer_).notify_over(left);
}

void lane_setup::connect_endpoints(pairs allowed_pairs) noexcept {
    const ucs_status_t status =
        peer_.lanes().is_open() ? UCS_OK : connect_over_what_is_left(allowed_pairs);
    if (status != UCS_OK) {
        peer_.fail_all(status == UCS_ERR_NO_MEMORY ? status : UCS_ERR_UNREACHABLE);
        return;
    }
    for (ep& each : peer_.endpoints())
        connect_again(each);
}

void lane_setup::hand_over_waiting(peer& given) noexcept {
    const peer_identity& ours = peer_.identity();
    const bool is_elsewhere =
        !ours.is_part_of(given.identity().packed()) && !given.identity().is_part_of(ours.packed());
    bool& has_handed_over = slot_of<lane_setup>(given).has_handed_over_;
    for (auto next = peer_.endpoints().begin(); next != peer_.endpoints().end();) {
        ep& each = *next++;
        if (!is_waiting(state_of(each))) continue;
        if (is_elsewhere) renew_id(each);
        move_to(each, given);
        has_handed_over = true;
    }
    if (has_handed_over) peer_.owner().postponed().resume_later(given);
}

// Endpoints of the program do not fail because of clients: they try to connect when they are used.
void lane_setup::connect_handed_over() noexcept {
    if (!std::exchange(has_handed_over_, false) || peer_.dead()) return;
    const peer_use kept(peer_);
    const ucs_status_t status = connect();
    for (ep& each : peer_.endpoints()) {
        if (socket_of(each) == nullptr) continue;
        if (status == UCS_OK) {
            connect_again(each);
        } else if (is_waiting(state_of(each))) {
            wireup::handle(each, event::failure, status);
        }
    }
}

bool lane_setup::exclude(std::size_t resource, ucs_status_t failure) noexcept {
    return ucs::allocated([&] { excluded_.push_back({resource, failure}); });
}

void lane_setup::note_lanes() noexcept {
    if (peer_.uninvited.weight() == 0) return;
    const auto keeps = [](const lane& each) {
        return each.is_open() && each.attr().uses_descriptor;
    };
    const peer_lanes& lanes = peer_.lanes();
    peer_.uninvited.set_descriptor(keeps(lanes.message) || keeps(lanes.bootstrap));
    peer_.uninvited.note_received(lanes.received());
}

// Endpoints that are over need no lane, although they may wait for room for their final message.
bool is_any_wanted(peer& of_peer) noexcept {
    return std::ranges::any_of(of_peer.endpoints(),
                               [](const ep& each) { return !is_over(state_of(each)); });
}

bool is_any_established(peer& of_peer) noexcept {
    return std::ranges::any_of(of_peer.endpoints(),
                               [](const ep& each) { return is_established(state_of(each)); });
}

}  // namespace ucp::wireup
