#include "ucp/core/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ucp/core/control.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/rndv/read_data.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/proof.hpp"
#include "ucp/wireup/select.hpp"

namespace ucp {

peer::peer(worker& owner, const ucs::security::public_key& identity, source from,
           std::vector<std::byte> packed_address)
    : owner_(owner),
      window_(owner.owner().options().unexpected_window.bytes),
      rts_limit_(owner.owner().options().unexpected_announcements),
      identity_(identity),
      uid_(address::uid_of(identity)),
      source_(from),
      packed_(std::move(packed_address)),
      uninvited_(owner.uninvited(), *this) {}

peer::~peer() = default;

void peer::end() noexcept {
    end_kept();
    disconnect();
    exposed_.clear_and_dispose([](exposed_buffer* each) { delete each; });
}

const ucs::security::key* peer::shared_key() noexcept {
    if (shared_key_ != nullptr || packed_.empty()) return shared_key_.get();
    try {
        if (const auto agreed = owner_.agree(identity_))
            shared_key_ = std::make_unique<ucs::security::key>(*agreed);
    } catch (const std::bad_alloc&) {
        ucs::log::error(wireup_log, "out of memory: no connection message to worker {:x} is proven",
                        uid_);
    }
    return shared_key_.get();
}

bool peer::is_self() const noexcept {
    return identity_ == owner_.identity().public_half();
}

bool peer::has_address(std::span<const std::byte> packed) const noexcept {
    return packed.size() >= packed_.size() &&
           std::ranges::equal(packed_, packed.first(packed_.size()));
}

void peer::seal(wire::wireup_header& header, std::span<const std::byte> body) noexcept {
    const ucs::security::key* const shared = shared_key();
    if (shared == nullptr) return;
    const auto bits =
        static_cast<std::uint8_t>(header.type) & ~(wire::no_credits | wire::over_pair);
    const auto type = static_cast<wire::wireup_type>(bits);
    if (wireup::can_be_refused(type))
        header.receipt = wireup::make_receipt(*shared, header.uid, header.ep);
    if (wireup::connects(type)) header.ep ^= wireup::make_ep_mask(*shared, header.receipt);
    header.proof = wireup::prove(*shared, packed_, header, body);
}

ucs_status_t peer::connect(wireup::pairs pairs) noexcept {
    if (am_.endpoint != nullptr) return UCS_OK;
    if (packed_.empty())
        return UCS_ERR_NOT_CONNECTED;  // a client does not know its server's worker yet, see ucp/cm
    excluded_.clear();  // a resource that failed before, for lack of a descriptor say, may work now
    return connect_over_what_is_left(pairs);
}

ucs_status_t peer::connect_over_what_is_left(wireup::pairs pairs) noexcept {
    held_list refusals;
    if (pairing_ != nullptr) {  // a refusal may still wait on the bootstrap lane
        take_queue(*pairing_, refusals);
        disconnect();
    }
    const ucs_status_t status = try_to_make_lanes(pairs);
    if (status == UCS_OK) {
        release_all(refusals, joined() ? *am_.endpoint : *pairing_->bootstrap.endpoint);
    } else {
        drop_all(refusals);
    }
    return status;
}

ucs_status_t peer::try_to_make_lanes(wireup::pairs pairs) noexcept {
    try {
        return make_lanes(pairs);
    } catch (const std::bad_alloc&) {
        ucs::log::error(wireup_log, "out of memory: worker {:x} cannot be connected to", uid_);
        disconnect();
        return UCS_ERR_NO_MEMORY;
    }
}

ucs_status_t peer::make_lanes(wireup::pairs pairs) {
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    if (!remote) return remote.status();
    const wireup::lane_selection chosen = select_lanes_to(*remote, pairs);
    if (!chosen.am) {
        owner_.unreachable().error(wireup_log, "worker {:x} ({}) is unreachable: {}", uid_,
                                   remote->name, fmt::join(why_each(chosen), "; "));
        return UCS_ERR_UNREACHABLE;
    }
    const bool made =
        open(*chosen.am, am_) && (!chosen.paired || begin_pairing(*chosen.bootstrap, chosen));
    if (!made) {
        disconnect();
        return make_lanes(pairs);  // terminates: every turn excludes one more resource
    }
    shared_lane_ = chosen.rma && am_attr().keyed && chosen.rma->resource == am_.resource;
    const bool opens_rma = chosen.rma && !shared_lane_ && rma_state_ == rma_state::usable;
    if (opens_rma && !open(*chosen.rma, rma_)) rma_state_ = rma_state::no_endpoint;
    if (rma_state_ == rma_state::usable && reaches_unknown_process())
        rma_state_ = rma_state::process_not_shown;
    choose_protocols();
    if (!chosen.paired && last_attempt_ != 0) send_pair_without_lanes(*am_.endpoint);
    return UCS_OK;
}

bool peer::open(const wireup::lane_choice& choice, lane& into) {
    const ucs_status_t status = make(choice.resource, choice.address, into);
    if (status != UCS_OK) excluded_.push_back({choice.resource, status});
    return status == UCS_OK;
}

// The transport logs failures.
ucs_status_t peer::make(std::size_t resource, std::span<const std::byte> to, lane& into) {
    auto made = owner_.interface(resource)->create_ep(to);
    if (!made) return made.status();
    into = {std::move(*made), resource};
    owner_.track_lane(*into.endpoint, resource, this);
    owner_.activate(resource);
    return UCS_OK;
}

void peer::close(lane& used) noexcept {
    if (used.endpoint == nullptr) return;
    for (auto next = striped_.begin(); next != striped_.end();)
        (next++)->lane_lost(*used.endpoint);
    used.endpoint->pending_purge(drop, nullptr);
    owner_.track_lane(*used.endpoint, used.resource, nullptr);
    used.endpoint.reset();
}

void peer::choose_protocols() {
    protocols_ = &owner_.protocols(am_attr(), rma() != nullptr ? &rma_attr() : nullptr);
}

void peer::choose_protocols_again() noexcept {
    try {
        choose_protocols();
    } catch (const std::bad_alloc&) {
        // Protocols that were chosen with another memory lane work as well.
        ucs::log::debug(wireup_log, "out of memory: protocols to worker {:x} stay", uid_);
    }
    for (ep& each : endpoints_)
        each.refresh_protocols();
}

bool peer::reaches_unknown_process() noexcept {
    return rma_.endpoint != nullptr && !rma_.endpoint->bind_to(process_);
}

void peer::learn_process(const ucs::sys::process_identity& shown) noexcept {
    if (shown.pid == 0) return;
    process_ = shown;
    if (rma_state_ != rma_state::process_not_shown) return;
    if (reaches_unknown_process()) {
        ucs::log::info(wireup_log,
                       "worker {:x} is process {}, and its address names another one for access to "
                       "memory: data is copied through messages",
                       uid_, shown.pid);
        return;
    }
    rma_state_ = rma_state::usable;
    choose_protocols_again();
}

bool peer::readdress(std::span<const std::byte> packed_address) {
    if (has_address(packed_address) || has_established_endpoint()) return false;
    const bool has_lanes = am_.endpoint != nullptr || pairing_ != nullptr;
    const bool is_other = !is_part_of(packed_address);
    if (has_lanes && !is_other) return false;
    packed_ = std::vector<std::byte>(packed_address.begin(), packed_address.end());
    if (!is_other) return false;
    // Failures until now concern the old address.
    excluded_.clear();
    rma_state_ = rma_state::usable;
    if (!has_lanes) return true;
    for (ep& each : endpoints_)
        each.renew_id();
    reconnect(wireup::pairs::allowed);
    return true;
}

// The address for other hosts has fewer interfaces than the full one. An address with an interface
// that is missing in the given one is no form of it: that interface may belong to another worker.
bool peer::is_part_of(std::span<const std::byte> packed_address) const {
    const auto known = address::parse(std::span<const std::byte>(packed_));
    const auto given = address::parse(packed_address);
    if (!known || !given || known->flags != given->flags || known->name != given->name)
        return false;
    return std::ranges::all_of(known->entries, [&given](const address::entry& each) {
        return std::ranges::find(given->entries, each) != given->entries.end();
    });
}

const uct::iface_attr& peer::am_attr() const noexcept {
    return attr_of(am_);
}

const uct::iface_attr& peer::rma_attr() const noexcept {
    return attr_of(memory_lane());
}

const uct::iface_attr& peer::attr_of(const lane& used) const noexcept {
    return owner_.interface(used.resource)->attr();
}

rail_share* peer::share_of(const uct::ep& rail) noexcept {
    lane& first = shared_lane_ ? am_ : rma_;
    if (first.endpoint.get() == &rail) return &first.share;
    for (lane& each : more_rails_) {
        if (each.endpoint.get() == &rail) return &each.share;
    }
    return nullptr;
}

std::uint8_t peer::own_device(const lane& used) const noexcept {
    return owner_.owner().resources()[used.resource].memory;
}

uct::memory_domain* peer::domain_of(const lane& used) const noexcept {
    return owner_.interface(used.resource)->domain();
}

wireup::lane_selection peer::select_lanes_to(const address::worker_address& remote,
                                             wireup::pairs pairs) const {
    return wireup::select_lanes(local_interfaces(), remote, pairs,
                                owner_.owner().options().rails());
}

void peer::close_rails() noexcept {
    while (!more_rails_.empty()) {
        lane last = std::move(more_rails_.back());
        more_rails_.pop_back();
        close(last);
    }
}

void peer::abort_lanes() noexcept {
    if (am_.endpoint != nullptr) am_.endpoint->abort();
    for (lane& each : more_rails_) {
        if (each.endpoint != nullptr) each.endpoint->abort();
    }
}

// The transfers of the rail continue over the other rails.
void peer::drop_rail(std::size_t index, ucs_status_t why) noexcept {
    if (pairing_ != nullptr && pairing_->state == wireup::pairing_state::requested) {
        close(more_rails_[index]);  // the reply lists the rail by its position, so it stays in the
                                    // list
        return;
    }
    lane gone = std::move(more_rails_[index]);
    more_rails_.erase(more_rails_.begin() + static_cast<std::ptrdiff_t>(index));
    const auto& where = owner_.owner().resources()[gone.resource].where;
    const bool expected = dead_ || why == UCS_ERR_NOT_CONNECTED;
    ucs::log::log(
        wireup_log, expected ? ucs::log::level::debug : ucs::log::level::warn,
        "the rail {}/{} to worker {:x} was lost: {}; transfers continue over the other rails",
        where.transport, where.device, uid_, ucs_status_string(why));
    close(gone);
}

void peer::disconnect() noexcept {
    empty_queue();
    for (ep& each : endpoints_)
        each.forget_lane();
    close_rails();
    close(am_);
    close(rma_);
    if (rma_state_ == rma_state::process_not_shown) rma_state_ = rma_state::usable;
    if (pairing_ == nullptr) return;
    close(pairing_->bootstrap);
    release_pairing_reference();
    pairing_.reset();
}

void peer::drop_rma(rma_state why) noexcept {
    if (rma_.endpoint == nullptr || rma_state_ != rma_state::usable) return;
    rma_state_ = why;
    owner_.count(activity::refused_reads);
    ucs::log::info(wireup_log, "worker {:x}: {} is not used any more: {}; data is copied instead",
                   uid_, owner_.owner().resources()[rma_.resource].where.transport, text_of(why));
    choose_protocols_again();
}

// Endpoints that are over need no lane, although they may wait for room for their final message.
bool peer::is_wanted() const noexcept {
    return std::any_of(endpoints_.begin(), endpoints_.end(),
                       [](const ep& each) { return !wireup::is_over(each.connection()); });
}

bool peer::has_established_endpoint() const noexcept {
    return std::any_of(endpoints_.begin(), endpoints_.end(),
                       [](const ep& each) { return wireup::is_established(each.connection()); });
}

// Another lane may be tried while no endpoint is established and at least one wants to connect.
bool peer::may_change_lane() const noexcept {
    return !lost_control_ && is_wanted() && !has_established_endpoint();
}

void peer::lane_failed(const uct::ep& failed, ucs_status_t status) noexcept {
    if (&failed == rma_.endpoint.get()) {
        ucs::log::debug(wireup_log, "worker {:x}: the lane for memory access failed: {}", uid_,
                        ucs_status_string(status));
        drop_rma(rma_state::endpoint_failed);
        return;
    }
    for (std::size_t i = 0; i < more_rails_.size(); ++i) {
        if (&failed != more_rails_[i].endpoint.get()) continue;
        drop_rail(i, status);
        return;
    }
    const bool is_bootstrap = pairing_ != nullptr && &failed == pairing_->bootstrap.endpoint.get();
    if (dead_) {
        if (is_bootstrap) empty_queue();  // the peer need not be notified any more
        return;
    }
    const bool left =
        status == UCS_ERR_NOT_CONNECTED ||
        (pairing_ != nullptr && pairing_->postponed != nullptr);  // and requests new lanes
    if (left && pairing_ != nullptr && !is_bootstrap) {
        on_peer_left();
        return;
    }
    const peer_use kept(*this);
    lane_lost(is_bootstrap ? pairing_->bootstrap.resource : am_.resource, status);
    if (dead_ && !is_bootstrap) notify_peer(wire::wireup_type::unpaired);
}

void peer::lane_lost(std::size_t resource, ucs_status_t status) noexcept {
    const auto& where = owner_.owner().resources()[resource].where;
    // If memory lacks for one lane, it lacks for another as well.
    if (status == UCS_ERR_NO_MEMORY || !may_change_lane()) {
        // After an orderly close only operations that are still under way miss the peer, and they
        // get the error. A peer that passed a limit has had its line.
        const bool expected = status == UCS_ERR_NOT_CONNECTED || !is_sent_control_;
        const auto severity = refused_hook.is_linked() ? ucs::log::level::debug
                              : expected               ? ucs::log::level::info
                                                       : ucs::log::level::warn;
        ucs::log::log(wireup_log, severity,
                      "the connection to {}, worker {:x}, over {}/{} was lost: {}", peer_name(),
                      uid_, where.transport, where.device, ucs_status_string(status));
        fail_all(status);
        return;
    }
    ucs::log::info(wireup_log,
                   "worker {:x} could not be reached over {}/{} ({}): trying another transport",
                   uid_, where.transport, where.device, ucs_status_string(status));
    change_lanes(resource, status, wireup::pairs::allowed);
}

void peer::change_lanes(std::size_t without, ucs_status_t failure, wireup::pairs pairs) noexcept {
    if (!exclude(without, failure)) {
        fail_all(failure);
        return;
    }
    reconnect(pairs);
}

// Makes new lanes, over whatever is left, for the endpoints that want to connect.
void peer::reconnect(wireup::pairs pairs) noexcept {
    const peer_use kept(*this);
    const std::uint64_t left = must_notify_peer() ? pairing_->attempt : 0;
    disconnect();
    if (is_wanted()) connect_endpoints(pairs);
    if (left != 0) notify_attempt_over(left);
}

void peer::connect_endpoints(wireup::pairs pairs) noexcept {
    const bool made = am_.endpoint != nullptr;
    const ucs_status_t status = made ? UCS_OK : connect_over_what_is_left(pairs);
    if (status != UCS_OK) {
        fail_all(status == UCS_ERR_NO_MEMORY ? status : UCS_ERR_UNREACHABLE);
        return;
    }
    for (ep& each : endpoints_)
        each.connect_again();
}

void peer::hand_over_waiting(peer& given) noexcept {
    const bool is_elsewhere = !is_part_of(given.packed_) && !given.is_part_of(packed_);
    for (auto next = endpoints_.begin(); next != endpoints_.end();) {
        ep& each = *next++;
        if (!wireup::is_waiting(each.connection())) continue;
        if (is_elsewhere) each.renew_id();
        each.move_to(given);
        given.has_handed_over_ = true;
    }
    if (given.has_handed_over_) owner_.resume_later(given);
}

// Endpoints of the program do not fail because of clients: they try to connect when they are used.
void peer::connect_handed_over() noexcept {
    if (!std::exchange(has_handed_over_, false) || dead_) return;
    const peer_use kept(*this);
    const ucs_status_t status = connect();
    for (ep& each : endpoints_) {
        if (each.socket() == nullptr) continue;
        if (status == UCS_OK) {
            each.connect_again();
        } else if (wireup::is_waiting(each.connection())) {
            each.handle(wireup::event::failure, status);
        }
    }
}

bool peer::exclude(std::size_t resource, ucs_status_t failure) noexcept {
    try {
        excluded_.push_back({resource, failure});
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void peer::fail_all(ucs_status_t status) {
    dead_ = true;
    is_sent_control_ = false;
    if (!refused_hook.is_linked()) owner_.count(activity::lost_connections);
    owner_.forget(*this);
    const peer_use kept(*this);  // the last endpoint may be destroyed during the loop
    empty_queue();
    // No endpoint is destroyed before the next slow turn, and none is added to a forgotten peer.
    // Endpoints give memory back to the program, and the peer may not have noticed the failure:
    // abort its access first.
    abort_lanes();
    for (ep& each : endpoints_)
        each.handle(wireup::event::failure, status);
    end_kept();
    release_pairing_reference();
}

// The lane and the peer are alive: the peer may be writing into our memory, and queued messages
// still go. This works as closing by force does, except that the program's error handlers run and
// that the peer is notified that we answer no more: the message that was lost may have been a
// reply.
void peer::fail_alive(ucs_status_t status) {
    if (dead_) return;
    owner_.forget(*this);
    const peer_use kept(*this);
    for (ep& each : endpoints_)
        each.handle(wireup::event::failure, status);
}

// Final messages of endpoints need no memory, and nothing waits in front of them. Devices let the
// peer write no more, so that its writes end as well.
void peer::fail_for_limit() {
    const peer_use kept(*this);
    is_sent_control_ = false;
    has_passed_limit_ = true;
    refused_hook.unlink();
    drop_control();
    if (dead_) return;
    fail_alive(UCS_ERR_EXCEEDS_LIMIT);
    abort_lanes();
    owner_.fail_later(*this);  // which ends the connection
}

// Lanes over the same connection fail by themselves.
void peer::on_connection_ended(ucs_status_t status) {
    connection_ = 0;
    fail_alive(status);
}

void peer::keep(request& receive) noexcept {
    hold();
    kept_.push_back(receive);
    receive.state.recv.holds = this;
}

void peer::let_go(request& receive) noexcept {
    kept_.erase(kept_.iterator_to(receive));
    receive.state.recv.holds = nullptr;
    release();
}

void peer::end_kept() {
    while (!kept_.empty()) {
        request& receive = kept_.front();
        let_go(receive);
        rndv_abandon(receive);
    }
}

void peer::keep_exposed(std::unique_ptr<exposed_buffer> still_used) noexcept {
    if (!dead_) exposed_.push_back(*still_used.release());
}

void peer::release_exposed(std::uint64_t send) noexcept {
    exposed_.remove_and_dispose_if([send](const exposed_buffer& each) { return each.send == send; },
                                   [](exposed_buffer* each) { delete each; });
}

// Sends are ended by their endpoints, which list them as well.
void peer::drop(uct::pending_request& queued, void*) {
    if (control_message::is_control(queued)) {
        control_message::drop(queued);
    } else if (ep::is_final_message(queued)) {
        ep::drop_final_message(queued);
    } else if (striped_access::is_chunk(queued)) {
        striped_access::drop(queued);
    } else if (rndv_is_read(queued)) {
        rndv_drop_read(queued);
    }
}

void peer::empty_queue() {
    if (am_.endpoint != nullptr) am_.endpoint->pending_purge(drop, nullptr);
    if (pairing_ == nullptr) return;
    if (pairing_->bootstrap.endpoint != nullptr)
        pairing_->bootstrap.endpoint->pending_purge(drop, nullptr);
    drop_all(pairing_->held);
}

// All other messages that wait on the lanes belong to operations, which their endpoints end. A data
// request that has not left is no reason to wait for the peer: its receive ends with the endpoint.
void peer::drop_control() {
    held_list dropped;
    held_list others;
    struct lists {
        held_list* dropped;
        held_list* others;
    } sorted{&dropped, &others};
    const auto sort = [](uct::pending_request& queued, void* arg) {
        const lists& into = *static_cast<const lists*>(arg);
        (control_message::is_control(queued) ? into.dropped : into.others)->push_back(queued);
    };
    if (am_.endpoint != nullptr) am_.endpoint->pending_purge(sort, &sorted);
    while (!others.empty()) {
        uct::pending_request& kept = others.front();
        others.pop_front();
        am_.endpoint->pending_add(kept);
    }
    if (pairing_ != nullptr) {
        if (pairing_->bootstrap.endpoint != nullptr)
            pairing_->bootstrap.endpoint->pending_purge(sort, &sorted);
        dropped.splice(dropped.end(), pairing_->held);
    }
    // Ending a receive may call the program, so the lists are complete before.
    while (!dropped.empty()) {
        uct::pending_request& next = dropped.front();
        dropped.pop_front();
        const std::uint64_t receive = control_message::asking_receive(next);
        control_message::drop(next);
        if (receive != 0) rndv_request_dropped(owner_, receive);
    }
}

void peer::drop_waiting() noexcept {
    const peer_use kept(*this);
    empty_queue();
}

bool peer::send_control(uct::am_id id, std::span<const std::byte> header,
                        std::span<const std::byte> body, std::uint64_t replying_ep) noexcept {
    if (am_.endpoint == nullptr || !is_sent_control_) {
        reply_sent(replying_ep);
        return true;
    }
    if (joined()) [[likely]]
        return send_over(*am_.endpoint, {id, header, body, replying_ep});
    uct::pending_request* const held =
        control_message::hold(*this, {id, header, body, replying_ep});
    if (held == nullptr) return lose_control({id, header, body, replying_ep});
    pairing_->held.push_back(*held);
    return true;
}

bool peer::send_over(uct::ep& over, const control_message::content& message) noexcept {
    return control_message::send(*this, over, message) || lose_control(message);
}

bool peer::lose_control(const control_message::content& message) noexcept {
    reply_sent(message.replying_ep);
    if (lost_control_) return false;
    lost_control_ = true;
    ucs::log::error(proto_log,
                    "out of memory: a control message ({}) to worker {:x} is lost, its endpoints "
                    "fail",
                    name_of(message.id), uid_);
    owner_.fail_later(*this);
    return false;
}

void peer::reply_sent(std::uint64_t replying_ep) noexcept {
    if (replying_ep == 0) return;
    if (ep* const replying = owner_.find_ep(replying_ep); replying != nullptr)
        replying->reply_sent();
}

void peer::attach(ep& user) noexcept {
    hold();
    endpoints_.insert(user);
    if (user.number() >= next_number_ && user.number() < first_apart_number)
        next_number_ = user.number() + 1;
    release_pairing_reference();
}

void peer::detach(ep& user) noexcept {
    endpoints_.erase(endpoints_.iterator_to(user));
    if (credits_requested_over_ == &user) credits_requested_over_ = nullptr;
    release();
}

void peer::note_lanes() noexcept {
    if (uninvited_.weight() == 0) return;
    const auto keeps = [this](const lane& each) {
        return each.endpoint != nullptr && attr_of(each).uses_descriptor;
    };
    uninvited_.set_descriptor(keeps(am_) || (pairing_ != nullptr && keeps(pairing_->bootstrap)));
    uninvited_.note_received(received());
}

void peer::end_one_uninvited() noexcept {
    const peer_use kept(*this);
    const auto is_uninvited = [](const ep& each) { return each.is_uninvited(); };
    const auto oldest = std::ranges::find_if(endpoints_, is_uninvited);
    if (oldest != endpoints_.end()) oldest->end_for_limit();
    if (!uninvited_.is_stranger() || std::ranges::any_of(endpoints_, is_uninvited)) return;
    uninvited_.set_stranger(false);
    give_up_pairing();
    drop_waiting();
}

ep* peer::find_for_request(std::uint64_t number, std::uint64_t remote_ep) noexcept {
    ep* found = nullptr;
    const auto [first, last] = endpoints_.equal_range(number);
    for (auto each = first; each != last; ++each) {
        const wireup::state current = each->connection();
        // The request is a repeated one: the peer changed its lane, or had no reply for long. An
        // endpoint that was closed meanwhile has replied already.
        const bool answered = current == wireup::state::ready || current == wireup::state::closing;
        if (answered && each->remote_id() == remote_ep) return &*each;
        if (wireup::is_waiting(current) && found == nullptr) found = &*each;
    }
    return found;
}

ep* peer::first_unowned() noexcept {
    for (ep& each : unowned_) {
        if (each.adoptable()) return &each;
    }
    return nullptr;
}

void peer::release() noexcept {
    if (--references_ == 0) owner_.destroy_later(*this);
}

std::string peer::peer_name() const noexcept {
    try {
        return am_.endpoint != nullptr ? am_.endpoint->peer_name() : "not connected yet";
    } catch (const std::bad_alloc&) {
        return "a peer";
    }
}

std::vector<peer::lane_name> peer::lane_names() const {
    std::vector<lane_name> names;
    const auto& resources = owner_.owner().resources();
    const auto add = [&](const lane& each) {
        if (each.endpoint == nullptr) return;
        const uct::resource& where = resources[each.resource].where;
        names.push_back({where.transport.c_str(), where.device.c_str()});
    };
    add(am_);
    add(rma_);
    for (const lane& each : more_rails_)
        add(each);
    return names;
}

}  // namespace ucp
