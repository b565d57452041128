#include "ucp/core/ep.hpp"

#include <fmt/format.h>

#include "ucp/core/complete.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/flush.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/proto/deferred_sends.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/wireup/configuration_line.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/requests.hpp"

namespace ucp {

using wireup::action;
using wireup::event;
using wireup::state;

ep::ep(worker& owner, peer& to, std::uint64_t number)
    : number_(number), owner_(owner), remote_(&to), window_(&slot_of<eager_credits>(to).window()) {
    id_ = owner.endpoints().add(*this);
    to.endpoints().attach(*this);
    owner.log().count(activity::ep_creations);
}

void ep::renew_id() noexcept {
    if (!wireup::is_waiting(state_)) return;
    // These messages came by the id that ends here, and nothing more of them arrives.
    abort_messages(UCS_ERR_CONNECTION_RESET);
    if (!wireup::is_waiting(state_)) return;  // the program has ended it meanwhile
    const std::uint64_t renewed = owner_.endpoints().renew(id_);
    if (renewed != 0) {
        id_ = renewed;
    } else {
        handle(event::failure, UCS_ERR_NO_MEMORY);
    }
}

ep::~ep() = default;

void ep::end() noexcept {
    enter(state::closed);
    if (final_message_.pending_hook.is_linked())
        remote_->lanes().am().pending_remove(final_message_);
    socket_.reset();
    end_uninvited();
    remote_->endpoints().detach(*this);
}

void ep::mark_uninvited() noexcept {
    uninvited_ = true;
    remote_->uninvited.add_endpoint();
}

void ep::end_uninvited() noexcept {
    if (!std::exchange(uninvited_, false)) return;
    remote_->uninvited.remove_endpoint();
    publish(events::ownership_changed{*this});
}

void ep::end_for_limit() noexcept {
    reason_for_end_ = wire::end_reason::too_many;
    handle(event::failure, UCS_ERR_EXCEEDS_LIMIT);
    end_uninvited();
    if (!final_message_.pending_hook.is_linked()) return;
    remote_->lanes().am().pending_remove(final_message_);
    destroy_if_over();
}

void ep::adopt(const ep_params& params, std::string name) noexcept {
    program_.take(params, std::move(name));
    end_uninvited();
    remote_->uninvited.set_stranger(false);
    unwanted_hook.unlink();
    publish(events::ownership_changed{*this});
    watch_peer();
}

const uct::iface_attr& ep::lane_attr() const noexcept {
    return remote_->lanes().am_attr();
}

void ep::handle(event input, ucs_status_t status) {
    const wireup::transition taken = wireup::step(state_, input);
    if (taken.next != state_) {
        ucs::log::debug(wireup_log, "endpoint {:x} to worker {:x}: {} on {} -> {}", id_,
                        remote_->uid(), wireup::name(state_), wireup::name(input),
                        wireup::name(taken.next));
    }
    const bool moved = state_ != taken.next;
    enter(taken.next);
    if (socket_ != nullptr && moved) [[unlikely]]
        socket_->on_state(state_);
    switch (taken.todo) {
        case action::none:
            break;
        case action::send_request:
            connect();
            return;
        case action::become_ready:
            become_ready();
            break;
        case action::become_ready_and_reply:
            wireup::send_reply(*this);
            become_ready();
            break;
        case action::reply:
            wireup::send_reply(*this);
            break;
        case action::reply_and_close:
            wireup::send_reply(*this);
            [[fallthrough]];
        case action::send_close:
            // An endpoint that never became ready also needs its lane, to answer the peer until the
            // peer closes.
            if (remote_->lanes().is_open()) lane_ = &remote_->lanes().am();
            wireup::send_close(*this);
            break;
        case action::notify_user:
            peer_closed();
            return;
        case action::fail:
        case action::fail_and_tell:
            fail(status, taken.todo == action::fail_and_tell);
            return;
        case action::notify_failure:
            wireup::send_failed(*this);
            break;
        case action::unexpected:
            owner_.log().rejected().warn(
                wireup_log,
                "worker {:x} sent a connection message that does not fit: {} in state "
                "{}; it was ignored",
                remote_->uid(), wireup::name(input), wireup::name(state_));
            break;
    }
    if (state_ == state::closed) {
        // Partial messages stay partial: the peer sends nothing more.
        abort_all(UCS_ERR_CONNECTION_RESET);
        slot_of<eager_credits>(*remote_).request_again(*this);
        destroy_if_over();
    }
}

void ep::destroy_if_over() noexcept {
    if (state_ == state::closed && !final_message_.pending_hook.is_linked())
        owner_.postponed().destroy_later(*this);
}

void ep::send_final(wire::wireup_type type) noexcept {
    if (!remote_->lanes().is_open() || remote_->dead()) return;
    final_message_type_ = type;
    if (final_message_.pending_hook.is_linked()) return;
    // Queued messages go first, even if a send ends in the middle of the lane's queue: a receive
    // that has not heard of the end of its data would be aborted.
    const bool others_wait = remote_->lanes().am().sent().queued > 0;
    if (others_wait || wireup::send_final_message(*this, type) == UCS_ERR_NO_RESOURCE)
        remote_->lanes().am().pending_add(final_message_);
}

ucs_status_t ep::progress_final_message(uct::pending_request& queued) noexcept {
    ep& self = *boost::intrusive::get_parent_from_member(&queued, &ep::final_message_);
    const ucs_status_t status = wireup::send_final_message(self, self.final_message_type_);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    self.destroy_if_over();
    return UCS_OK;
}

void ep::drop_final_message(uct::pending_request& queued) noexcept {
    boost::intrusive::get_parent_from_member(&queued, &ep::final_message_)->destroy_if_over();
}

void ep::enter(state next) noexcept {
    owner_.schedule().note_connecting((next == state::requested ? 1 : 0) -
                                      (state_ == state::requested ? 1 : 0));
    state_ = next;
}

void ep::join(std::unique_ptr<socket_part> part) noexcept {
    socket_ = std::move(part);
}

void ep::bind(peer& to) noexcept {
    socket_->bind();
    move_to(to);
}

// An uninvited endpoint never moves: the request that makes it also connects it.
void ep::move_to(peer& to) noexcept {
    publish(events::peer_changed{*this, to});
    remote_->endpoints().detach(*this);
    remote_ = &to;
    window_ = &slot_of<eager_credits>(to).window();
    to.endpoints().attach(*this);
    if (program_.is_owner()) to.uninvited.set_stranger(false);
}

void ep::forget_lane() noexcept {
    lane_ = nullptr;
    short_end_ = 0;
}

void ep::watch_peer() noexcept {
    if (!program_.handles_errors() || !remote_->lanes().is_open()) return;
    if (remote_->lanes().am_attr().needs_check) owner_.watch().add(*remote_);
}

bool ep::ensure_lanes(wireup::pairs allowed_pairs) {
    const ucs_status_t status = slot_of<wireup::lane_setup>(*remote_).connect(allowed_pairs);
    if (status != UCS_OK) {
        handle(event::failure, status);
        return false;
    }
    watch_peer();
    return true;
}

void ep::connect() {
    if (socket_ != nullptr && socket_->waits_for_bind()) return;
    if (!ensure_lanes(wireup::pairs::allowed)) return;
    if (socket_ == nullptr && remote_->identity().is_self() && program_.allows_loopback()) {
        remote_id_ = id_;
        if (!wireup::grants_credits(owner_)) slot_of<eager_credits>(*remote_).begin_without();
        enter(state::ready);
        become_ready();
        return;
    }
    ask_for_connection();
}

void ep::ask_for_connection() {
    slot_of<wireup::requests>(owner_).repeater.add(*this);
    if (socket_ == nullptr) {
        wireup::send_request(*this);
    } else {
        wireup::send_bind(*this);
    }
}

void ep::connect_again() {
    if (state_ != state::requested && state_ != state::abandoned) return;
    if (socket_ != nullptr && socket_->waits_for_bind()) return;
    watch_peer();
    ask_for_connection();
}

void ep::repeat_request() {
    if (!slot_of<wireup::pairing>(*remote_).is_open() && state_ == state::requested) {
        slot_of<wireup::requests>(owner_).repeater.add(*this);
        slot_of<wireup::pairing>(*remote_).repeat_request();
    } else {
        connect_again();
    }
}

void ep::become_ready() {
    watch_peer();  // if the peer connected first, ensure_lanes was not called
    lane_ = &remote_->lanes().am();
    protocols_ = slot_of<wireup::lane_setup>(*remote_).protocols();
    wireup::log_configuration_once(*remote_);
    slot_of<eager_credits>(*remote_).request(*this);
    start_waiting(*this);
    if (operations_.closes_after_flush()) publish(events::closing_flush_began{*this});
    // The short path opens last: a send must not overtake those that waited.
    allow_short();
    operations_.check_flushes();
}

void ep::allow_short() noexcept {
    const bool closed = window_->uses_rendezvous() || !slot_of<deferred_sends>(*remote_).empty();
    short_end_ = closed ? 0 : static_cast<std::size_t>(protocols_->max_short() + 1);
}

void ep::on_window_spent() {
    slot_of<eager_credits>(*remote_).on_window_spent(*this);
}

void ep::credits_changed() noexcept {
    // An endpoint that never became ready has a lane only to reply.
    const bool sends = lane_ != nullptr && protocols_ != nullptr;
    if (sends && failure_ == UCS_OK && !operations_.is_starting) allow_short();
}

void ep::refresh_protocols() noexcept {
    if (lane_ == nullptr || failure_ != UCS_OK) return;
    protocols_ = slot_of<wireup::lane_setup>(*remote_).protocols();
    allow_short();
}

void ep::peer_closed() {
    abort_incoming(UCS_ERR_CONNECTION_RESET);
    if (!program_.is_owner() && !operations_.closes_after_flush()) {
        close_unowned();
        return;
    }
    publish(events::peer_closed{*this});
    // A closing flush continues: the peer still answers what it was sent before.
    if (!program_.is_owner() || !program_.handles_errors()) return;
    failure_ = UCS_ERR_CONNECTION_RESET;
    short_end_ = 0;
    abort_all(failure_);
    slot_of<eager_credits>(*remote_).request_again(*this);
    // The program may take long to close: the peer need not wait for the rest of partial messages.
    // The close message is sent again when the program closes, which has no effect then.
    wireup::send_close(*this);
    program_.notify(*this, failure_);
}

void ep::fail(ucs_status_t status, bool notify_peer) {
    failure_ = status;
    owner_.log().count(activity::ep_failures);
    short_end_ = 0;
    abort_all(status);
    slot_of<eager_credits>(*remote_).request_again(*this);
    if (notify_peer) wireup::send_failed(*this);
    if (program_.is_owner()) {
        program_.notify(*this, status);
    } else {
        close_unowned();
    }
}

// The close message may wait for as long as the peer does not read. Stored bytes that no program
// reads are dropped now and no longer count.
void ep::close_unowned() noexcept {
    publish(events::closed_unread{*this});
    handle(event::local_close);
}

void ep::abort_messages(ucs_status_t status) {
    publish(events::messages_lost{*this});
    while (!operations_.receives().empty())
        abort_receive(operations_.receives().front(), status);
}

void ep::abort_incoming(ucs_status_t status) {
    abort_messages(status);
    publish(events::incoming_ended{*this, status});
}

void ep::abort_all(ucs_status_t status) {
    running_operations::aborted_flushes flushes;
    operations_.take_flushes(flushes);
    while (!operations_.sends().empty())
        abort_send(operations_.sends().front(), status);
    abort_incoming(status);
    operations_.end_flushes(flushes, status);
}

void ep::detach_user() noexcept {
    program_.release();
    publish(events::ownership_changed{*this});
}

void ep::close_flushed() {
    detach_user();
    handle(event::local_close);
}

void ep::close_forced() {
    detach_user();
    short_end_ = 0;
    if (failure_ == UCS_OK) failure_ = UCS_ERR_CANCELED;
    abort_all(UCS_ERR_CANCELED);
    handle(event::local_close);
}

std::string ep::line() const {
    return fmt::format("#  endpoint {:x}: worker {:x}, {}, {} sends and {} receives running\n", id_,
                       remote_->uid(), wireup::name(state_), operations_.sends().size(),
                       operations_.receives().size());
}

std::string ep::info() const {
    std::string text = "#\n# UCP endpoint\n#\n";
    text += fmt::format("#               peer: worker {:x} ({}), {}\n", remote_->uid(),
                        remote_->identity().worker_name(), remote_->lanes().peer_name());
    text += fmt::format("#              state: {}\n", wireup::name(state_));
    text += fmt::format("#     error handling: {}\n", program_.handles_errors() ? "peer" : "none");
    text += wireup::explain(*remote_);
    return text;
}

}  // namespace ucp
