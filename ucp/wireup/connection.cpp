#include "ucp/wireup/connection.hpp"

#include "ucp/core/complete.hpp"
#include "ucp/core/events.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/credits.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/messages.hpp"
#include "ucp/wireup/pairing.hpp"
#include "ucp/wireup/requests.hpp"

namespace ucp::wireup {

namespace {

ep_connection& connection_of(ep& endpoint) noexcept {
    return slot_of<ep_connection>(endpoint);
}

void enter(ep& endpoint, state next) noexcept {
    state& current = connection_of(endpoint).current;
    endpoint.owner().schedule().note_connecting((next == state::requested ? 1 : 0) -
                                                (current == state::requested ? 1 : 0));
    current = next;
}

void watch_peer(const ep& endpoint) noexcept {
    peer& to = endpoint.remote();
    if (!endpoint.program().handles_errors() || !to.lanes().is_open()) return;
    if (to.lanes().am_attr().needs_check) endpoint.owner().watch().add(to);
}

void destroy_if_over(ep& endpoint) noexcept {
    if (state_of(endpoint) == state::closed && !endpoint.final_message.pending_hook.is_linked())
        endpoint.owner().postponed().destroy_later(endpoint);
}

ep& sender_of(uct::pending_request& final_message) noexcept {
    return *boost::intrusive::get_parent_from_member(&final_message, &ep::final_message);
}

ucs_status_t progress_final_message(uct::pending_request& queued) noexcept {
    ep& sender = sender_of(queued);
    const ucs_status_t status = send_final_message(sender, connection_of(sender).final_type);
    if (status == UCS_ERR_NO_RESOURCE) return status;
    destroy_if_over(sender);
    return UCS_OK;
}

void end_uninvited(ep& endpoint) noexcept {
    if (!std::exchange(connection_of(endpoint).is_uninvited, false)) return;
    endpoint.remote().uninvited.remove_endpoint();
    publish(events::ownership_changed{endpoint});
}

// Ends messages that have arrived in part or whose RTS was received.
void abort_messages(ep& endpoint, ucs_status_t status) {
    publish(events::messages_lost{endpoint});
    publish(events::receives_lost{endpoint, status});
}

// Ends receives of the stream as well.
void abort_incoming(ep& endpoint, ucs_status_t status) {
    abort_messages(endpoint, status);
    publish(events::incoming_ended{endpoint, status});
}

void abort_all(ep& endpoint, ucs_status_t status) {
    running_operations& operations = endpoint.operations();
    running_operations::aborted_flushes flushes;
    operations.take_flushes(flushes);
    while (!operations.sends().empty())
        abort_send(operations.sends().front(), status);
    abort_incoming(endpoint, status);
    operations.end_flushes(flushes, status);
}

// The close message may wait for as long as the peer does not read. Stored bytes that no program
// reads are dropped now and no longer count.
void close_unowned(ep& endpoint) noexcept {
    publish(events::closed_unread{endpoint});
    handle(endpoint, event::local_close);
}

void become_ready(ep& endpoint) {
    peer& to = endpoint.remote();
    watch_peer(endpoint);  // if the peer connected first, ensure_lanes was not called
    endpoint.set_lane(&to.lanes().am());
    short_path& path = slot_of<short_path>(endpoint);
    path.take_protocols(endpoint);
    log_configuration_once(to);
    slot_of<eager_credits>(to).request(endpoint);
    start_waiting(endpoint);
    if (endpoint.operations().closes_after_flush()) publish(events::closing_flush_began{endpoint});
    // The short path opens last: a send must not overtake those that waited.
    path.open(endpoint);
    endpoint.operations().check_flushes();
}

void ask_for_connection(ep& endpoint) {
    slot_of<requests>(endpoint.owner()).repeater.add(endpoint);
    if (socket_of(endpoint) == nullptr) {
        send_request(endpoint);
    } else {
        send_bind(endpoint);
    }
}

void connect(ep& endpoint) {
    const socket_part* const socket = socket_of(endpoint);
    if (socket != nullptr && socket->waits_for_bind()) return;
    if (!ensure_lanes(endpoint, pairs::allowed)) return;
    peer& to = endpoint.remote();
    if (socket == nullptr && to.identity().is_self() && endpoint.program().allows_loopback()) {
        endpoint.set_remote_id(endpoint.id());
        if (!grants_credits(endpoint.owner())) slot_of<eager_credits>(to).begin_without();
        enter(endpoint, state::ready);
        become_ready(endpoint);
        return;
    }
    ask_for_connection(endpoint);
}

void peer_closed(ep& endpoint) {
    abort_incoming(endpoint, UCS_ERR_CONNECTION_RESET);
    program_side& program = endpoint.program();
    if (!program.is_owner() && !endpoint.operations().closes_after_flush()) {
        close_unowned(endpoint);
        return;
    }
    publish(events::peer_closed{endpoint});
    // A closing flush continues: the peer still answers what it was sent before.
    if (!program.is_owner() || !program.handles_errors()) return;
    endpoint.set_failure(UCS_ERR_CONNECTION_RESET);
    slot_of<short_path>(endpoint).close();
    abort_all(endpoint, UCS_ERR_CONNECTION_RESET);
    slot_of<eager_credits>(endpoint.remote()).request_again(endpoint);
    // The program may take long to close: the peer need not wait for the rest of partial messages.
    // The close message is sent again when the program closes, which has no effect then.
    send_close(endpoint);
    program.notify(endpoint, endpoint.failure());
}

void fail(ep& endpoint, ucs_status_t status, bool notify_peer) {
    endpoint.set_failure(status);
    endpoint.owner().log().count(activity::ep_failures);
    slot_of<short_path>(endpoint).close();
    abort_all(endpoint, status);
    slot_of<eager_credits>(endpoint.remote()).request_again(endpoint);
    if (notify_peer) send_failed(endpoint);
    if (endpoint.program().is_owner()) {
        endpoint.program().notify(endpoint, status);
    } else {
        close_unowned(endpoint);
    }
}

}  // namespace

ep_connection::ep_connection(ep& endpoint) noexcept {
    endpoint.final_message.progress = progress_final_message;
}

bool is_adoptable(const ep& made) noexcept {
    return state_of(made) == state::ready && made.failure() == UCS_OK &&
           !made.operations().closes_after_flush();
}

void handle(ep& endpoint, event input, ucs_status_t status) {
    const state& current = connection_of(endpoint).current;
    const transition taken = step(current, input);
    if (taken.next != current) {
        ucs::log::debug(wireup_log, "endpoint {:x} to worker {:x}: {} on {} -> {}", endpoint.id(),
                        endpoint.remote().uid(), name(current), name(input), name(taken.next));
    }
    const bool moved = current != taken.next;
    enter(endpoint, taken.next);
    if (socket_part* const socket = socket_of(endpoint); socket != nullptr && moved) [[unlikely]]
        socket->on_state(current);
    switch (taken.todo) {
        case action::none:
            break;
        case action::send_request:
            connect(endpoint);
            return;
        case action::become_ready:
            become_ready(endpoint);
            break;
        case action::become_ready_and_reply:
            send_reply(endpoint);
            become_ready(endpoint);
            break;
        case action::reply:
            send_reply(endpoint);
            break;
        case action::reply_and_close:
            send_reply(endpoint);
            [[fallthrough]];
        case action::send_close:
            // An endpoint that never became ready also needs its lane, to answer the peer until the
            // peer closes.
            if (endpoint.remote().lanes().is_open())
                endpoint.set_lane(&endpoint.remote().lanes().am());
            send_close(endpoint);
            break;
        case action::notify_user:
            peer_closed(endpoint);
            return;
        case action::fail:
        case action::fail_and_tell:
            fail(endpoint, status, taken.todo == action::fail_and_tell);
            return;
        case action::notify_failure:
            send_failed(endpoint);
            break;
        case action::unexpected:
            endpoint.owner().log().rejected().warn(
                wireup_log,
                "worker {:x} sent a connection message that does not fit: {} in state "
                "{}; it was ignored",
                endpoint.remote().uid(), name(input), name(current));
            break;
    }
    if (current == state::closed) {
        // Partial messages stay partial: the peer sends nothing more.
        abort_all(endpoint, UCS_ERR_CONNECTION_RESET);
        slot_of<eager_credits>(endpoint.remote()).request_again(endpoint);
        destroy_if_over(endpoint);
    }
}

void adopt(ep& endpoint, const ep_params& params, std::string name) noexcept {
    endpoint.program().take(params, std::move(name));
    end_uninvited(endpoint);
    endpoint.remote().uninvited.set_stranger(false);
    endpoint.unwanted_hook.unlink();
    publish(events::ownership_changed{endpoint});
    watch_peer(endpoint);
}

void detach(ep& endpoint) noexcept {
    endpoint.program().release();
    publish(events::ownership_changed{endpoint});
}

void close_flushed(ep& endpoint) {
    detach(endpoint);
    handle(endpoint, event::local_close);
}

void close_forced(ep& endpoint) {
    detach(endpoint);
    slot_of<short_path>(endpoint).close();
    if (endpoint.failure() == UCS_OK) endpoint.set_failure(UCS_ERR_CANCELED);
    abort_all(endpoint, UCS_ERR_CANCELED);
    handle(endpoint, event::local_close);
}

void abort_for_destruction(ep& endpoint) {
    abort_all(endpoint, UCS_ERR_CANCELED);
}

void end_connection(ep& endpoint) noexcept {
    enter(endpoint, state::closed);
    if (endpoint.final_message.pending_hook.is_linked())
        endpoint.remote().lanes().am().pending_remove(endpoint.final_message);
    connection_of(endpoint).socket.reset();
    end_uninvited(endpoint);
}

void renew_id(ep& endpoint) noexcept {
    if (!is_waiting(state_of(endpoint))) return;
    // These messages came by the id that ends here, and nothing more of them arrives.
    abort_messages(endpoint, UCS_ERR_CONNECTION_RESET);
    if (!is_waiting(state_of(endpoint))) return;  // the program has ended it meanwhile
    const std::uint64_t renewed = endpoint.owner().endpoints().renew(endpoint.id());
    if (renewed != 0) {
        endpoint.set_id(renewed);
    } else {
        handle(endpoint, event::failure, UCS_ERR_NO_MEMORY);
    }
}

void connect_again(ep& endpoint) {
    const state current = state_of(endpoint);
    if (current != state::requested && current != state::abandoned) return;
    const socket_part* const socket = socket_of(endpoint);
    if (socket != nullptr && socket->waits_for_bind()) return;
    watch_peer(endpoint);
    ask_for_connection(endpoint);
}

void repeat_request(ep& endpoint) {
    pairing& pair = slot_of<pairing>(endpoint.remote());
    if (!pair.is_open() && state_of(endpoint) == state::requested) {
        slot_of<requests>(endpoint.owner()).repeater.add(endpoint);
        pair.repeat_request();
    } else {
        connect_again(endpoint);
    }
}

bool ensure_lanes(ep& endpoint, pairs allowed_pairs) {
    const ucs_status_t status = slot_of<lane_setup>(endpoint.remote()).connect(allowed_pairs);
    if (status != UCS_OK) {
        handle(endpoint, event::failure, status);
        return false;
    }
    watch_peer(endpoint);
    return true;
}

void forget_lane(ep& endpoint) noexcept {
    endpoint.set_lane(nullptr);
    slot_of<short_path>(endpoint).close();
}

// An uninvited endpoint never moves: the request that makes it also connects it.
void move_to(ep& endpoint, peer& to) noexcept {
    publish(events::peer_changed{endpoint, to});
    endpoint.set_remote(to);
    if (endpoint.program().is_owner()) to.uninvited.set_stranger(false);
}

void send_final(ep& endpoint, wire::wireup_type type) noexcept {
    const peer& to = endpoint.remote();
    if (!to.lanes().is_open() || to.dead()) return;
    connection_of(endpoint).final_type = type;
    if (endpoint.final_message.pending_hook.is_linked()) return;
    // Queued messages go first, even if a send ends in the middle of the lane's queue: a receive
    // that has not heard of the end of its data would be aborted.
    const bool others_wait = to.lanes().am().sent().queued > 0;
    if (others_wait || send_final_message(endpoint, type) == UCS_ERR_NO_RESOURCE)
        to.lanes().am().pending_add(endpoint.final_message);
}

void drop_final_message(uct::pending_request& queued) noexcept {
    destroy_if_over(sender_of(queued));
}

bool is_final_message(const uct::pending_request& queued) noexcept {
    return queued.progress == progress_final_message;
}

void mark_uninvited(ep& made) noexcept {
    connection_of(made).is_uninvited = true;
    made.remote().uninvited.add_endpoint();
}

void end_for_limit(ep& uninvited) noexcept {
    connection_of(uninvited).end_reason = wire::end_reason::too_many;
    handle(uninvited, event::failure, UCS_ERR_EXCEEDS_LIMIT);
    end_uninvited(uninvited);
    if (!uninvited.final_message.pending_hook.is_linked()) return;
    uninvited.remote().lanes().am().pending_remove(uninvited.final_message);
    destroy_if_over(uninvited);
}

}  // namespace ucp::wireup
