#include "ucp/core/peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ucp/core/control.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/rndv/receive.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/select.hpp"

namespace ucp {

peer::peer(worker& owner, std::uint64_t uid, std::vector<std::byte> packed_address)
    : owner_(owner),
      budget_(owner.owner().options().unexpected_window.bytes),
      announced_(owner.owner().options().unexpected_announcements),
      uid_(uid),
      packed_(std::move(packed_address)) {}

peer::~peer() {
    end_kept();
    disconnect();
}

ucs_status_t peer::connect() noexcept {
    if (am_.endpoint != nullptr) return UCS_OK;
    if (packed_.empty()) return UCS_ERR_NOT_CONNECTED;  // nobody's yet, see ucp/cm
    excluded_.clear();  // what failed then, for want of a descriptor say, may do now
    return connect_over_what_is_left();
}

ucs_status_t peer::connect_over_what_is_left() noexcept {
    try {
        return make_lanes();
    } catch (const std::bad_alloc&) {
        ucs::log::error(wireup_log, "out of memory: worker {:x} cannot be connected to", uid_);
        disconnect();
        return UCS_ERR_NO_MEMORY;
    }
}

ucs_status_t peer::make_lanes() {
    const auto remote = address::parse(std::span<const std::byte>(packed_));
    if (!remote) return remote.status();
    const wireup::lane_selection chosen = wireup::select_lanes(local_interfaces(), *remote);
    if (!chosen.am) {
        owner_.unreachable().error(wireup_log, "worker {:x} ({}) is unreachable: {}", uid_,
                                   remote->name, fmt::join(why_each(chosen), "; "));
        return UCS_ERR_UNREACHABLE;
    }
    const auto open = [this](const wireup::lane_choice& choice, lane& into) {
        auto made = owner_.interface(choice.resource)->create_ep(choice.address);
        if (!made) return made.status();
        into = {std::move(*made), choice.resource};
        owner_.track_lane(*into.endpoint, this);
        owner_.activate(choice.resource);
        return UCS_OK;
    };
    if (const ucs_status_t status = open(*chosen.am, am_); status != UCS_OK) {
        excluded_.push_back({chosen.am->resource, status});
        return make_lanes();  // ends: every turn excludes one more
    }
    if (chosen.rma && rma_dropped_ == nullptr) {
        if (open(*chosen.rma, rma_) != UCS_OK) rma_dropped_ = "its endpoint could not be made";
    }
    const bool has_rma = rma_.endpoint != nullptr;
    protocols_ =
        &owner_.protocols(am_attr(), has_rma ? &owner_.interface(rma_.resource)->attr() : nullptr);
    return UCS_OK;
}

void peer::readdress(std::span<const std::byte> packed_address) {
    if (am_.endpoint != nullptr || std::ranges::equal(packed_, packed_address)) return;
    packed_ = std::vector<std::byte>(packed_address.begin(), packed_address.end());
}

const uct::iface_attr& peer::am_attr() const noexcept {
    return owner_.interface(am_.resource)->attr();
}

const uct::iface_attr& peer::rma_attr() const noexcept {
    return owner_.interface(rma_.resource)->attr();
}

void peer::disconnect() noexcept {
    empty_queue();
    for (lane* each : {&am_, &rma_}) {
        if (each->endpoint == nullptr) continue;
        owner_.track_lane(*each->endpoint, nullptr);
        each->endpoint.reset();
    }
}

void peer::drop_rma(const char* why) noexcept {
    if (rma_.endpoint == nullptr || rma_dropped_ != nullptr) return;
    rma_dropped_ = why;
    owner_.count(activity::refused_reads);
    ucs::log::info(wireup_log, "worker {:x}: {} is not used any more: {}; data is copied instead",
                   uid_, owner_.owner().resources()[rma_.resource].where.transport, why);
    try {
        protocols_ = &owner_.protocols(am_attr(), nullptr);
    } catch (const std::bad_alloc&) {
        // Those that were chosen with it work without it, too.
        ucs::log::debug(wireup_log, "out of memory: protocols to worker {:x} stay", uid_);
    }
    for (ep& each : endpoints_)
        each.refresh_protocols();
}

// Nothing was agreed with the peer yet, and somebody still wants to. Endpoints that are over want
// nothing, but may wait for the lane to take their last word.
bool peer::may_change_lane() const noexcept {
    if (lost_control_) return false;
    const auto over = [](const ep& each) { return wireup::is_over(each.connection()); };
    const auto established = [](const ep& each) {
        return wireup::is_established(each.connection());
    };
    return !std::all_of(endpoints_.begin(), endpoints_.end(), over) &&
           std::none_of(endpoints_.begin(), endpoints_.end(), established);
}

void peer::lane_failed(const uct::ep& which, ucs_status_t status) noexcept {
    if (&which == rma_.endpoint.get()) {
        drop_rma(ucs_status_string(status));
        return;
    }
    const auto& where = owner_.owner().resources()[am_.resource].where;
    // Who lacks memory for one lane lacks it for another.
    if (status == UCS_ERR_NO_MEMORY || !may_change_lane() || !exclude(am_.resource, status)) {
        // After a goodbye nobody misses anything but who still sends, and gets the error.
        ucs::log::log(
            wireup_log,
            status == UCS_ERR_NOT_CONNECTED ? ucs::log::level::info : ucs::log::level::warn,
            "the connection to {}, worker {:x}, over {}/{} was lost: {}", peer_name(), uid_,
            where.transport, where.device, ucs_status_string(status));
        fail_all(status);
        return;
    }
    ucs::log::info(wireup_log, "worker {:x} could not be reached over {}/{} ({}): trying another",
                   uid_, where.transport, where.device, ucs_status_string(status));
    disconnect();
    if (const ucs_status_t other = connect_over_what_is_left(); other != UCS_OK) {
        fail_all(other == UCS_ERR_NO_MEMORY ? other : UCS_ERR_UNREACHABLE);
        return;
    }
    for (ep& each : endpoints_)
        each.connect_again();
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
    owner_.count(activity::lost_connections);
    owner_.forget(*this);
    const peer_use kept(*this);  // the last endpoint may go while we walk
    empty_queue();
    // None is destroyed before the next slow turn, and none is added to a peer that is forgotten.
    for (ep& each : endpoints_)
        each.handle(wireup::event::failure, status);
    end_kept();
}

// The lane is alive, and so is the peer: it may be writing into our memory, and what waits in the
// queue still goes. As after closing by force, only that the user is told, and the peer that nobody
// answers any more: what was lost may have been an answer.
void peer::fail_for_memory() {
    if (dead_) return;
    owner_.forget(*this);
    const peer_use kept(*this);
    for (ep& each : endpoints_)
        each.handle(wireup::event::failure, UCS_ERR_NO_MEMORY);
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

// Sends are ended by their endpoints, which hold them too.
void peer::empty_queue() {
    if (am_.endpoint == nullptr) return;
    am_.endpoint->pending_purge(
        [](uct::pending_request& queued, void*) {
            if (control_message::is(queued)) {
                control_message::drop(queued);
            } else if (ep::is_last_word(queued)) {
                ep::drop_last_word(queued);
            }
        },
        nullptr);
}

bool peer::send_control(uct::am_id id, std::span<const std::byte> header,
                        std::span<const std::byte> body, std::uint64_t debtor) noexcept {
    if (am_.endpoint == nullptr || dead_) {
        answer_left(debtor);
        return true;
    }
    if (control_message::send(*this, id, header, body, debtor)) return true;
    answer_left(debtor);
    if (lost_control_) return false;
    lost_control_ = true;
    ucs::log::error(proto_log,
                    "out of memory: a control message ({}) to worker {:x} is lost, its endpoints "
                    "fail",
                    name_of(id), uid_);
    owner_.fail_later(*this);
    return false;
}

void peer::answer_left(std::uint64_t debtor) noexcept {
    if (debtor == 0) return;
    if (ep* const owing = owner_.find_ep(debtor); owing != nullptr) owing->answer_left();
}

void peer::attach(ep& user) noexcept {
    hold();
    endpoints_.insert(user);
    if (user.number() >= next_number_ && user.number() < first_socket_number)
        next_number_ = user.number() + 1;
}

void peer::detach(ep& user) noexcept {
    endpoints_.erase(endpoints_.iterator_to(user));
    if (asked_over_ == &user) asked_over_ = nullptr;
    release();
}

ep* peer::find_for_request(std::uint64_t number, std::uint64_t remote_ep) noexcept {
    ep* found = nullptr;
    const auto [first, last] = endpoints_.equal_range(number);
    for (auto each = first; each != last; ++each) {
        const wireup::state at = each->connection();
        // Asked again, over another lane or because it heard nothing for long. One that was closed
        // meanwhile has answered.
        const bool answered = at == wireup::state::ready || at == wireup::state::closing;
        if (answered && each->remote_id() == remote_ep) return &*each;
        const bool unmatched = at == wireup::state::idle || at == wireup::state::requested ||
                               at == wireup::state::abandoned;
        if (unmatched && found == nullptr) found = &*each;
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
    for (const lane* each : {&am_, &rma_}) {
        if (each->endpoint == nullptr) continue;
        const uct::resource& where = resources[each->resource].where;
        names.push_back({where.transport.c_str(), where.device.c_str()});
    }
    return names;
}

}  // namespace ucp
