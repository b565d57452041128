#include "ucp/wireup/messages.hpp"

#include <cstring>
#include <new>

#include "ucp/cm/endpoint.hpp"
#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/wireup/wire.hpp"

namespace ucp::wireup {

namespace {

using wire::wireup_header;
using wire::wireup_type;

// The other side sends as soon as it has it.
wireup_type with_room(wireup_type type, worker& owner) {
    if (owner.matcher().room().has_room()) return type;
    return static_cast<wireup_type>(static_cast<std::uint8_t>(type) | wire::no_room);
}

// True: it was told that there is no room.
bool take_no_room(wireup_type& type) {
    const auto said = static_cast<std::uint8_t>(type);
    type = static_cast<wireup_type>(said & ~wire::no_room);
    return (said & wire::no_room) != 0;
}

// Only before the endpoint is ready, which then asks: later the peer answers what it is asked.
void note_room(const ep& to, bool full) {
    const state at = to.connection();
    if (full && (at == state::idle || at == state::requested)) to.remote().begin_held();
}

wireup_header header_of(const ep& from, wireup_type type, std::uint64_t last) {
    return {with_room(type, from.owner()), {},        from.owner().uid(),
            from.remote().uid(),           from.id(), last};
}

void send(ep& from, wireup_type type, std::uint64_t last, std::span<const std::byte> body) {
    const wireup_header header = header_of(from, type, last);
    from.remote().send_control(wire::wireup, std::as_bytes(std::span(&header, 1)), body);
}

// The request was meant for a worker that had this address before.
void on_stray_request(worker& owner, const wireup_header& header,
                      std::span<const std::byte> address) {
    owner.rejected().warn(wireup_log,
                          "worker {:x} asked for worker {:x}, which is not here any more: refused",
                          header.uid, header.peer_uid);
    owner.refuse(header, address);
}

void on_request(worker& owner, const wireup_header& header, std::span<const std::byte> address,
                bool full) {
    if (header.peer_uid != owner.uid()) {
        on_stray_request(owner, header, address);
        return;
    }
    ep* accepted = owner.accept(header, address);
    if (accepted == nullptr) return;
    accepted->set_remote_id(header.ep);
    note_room(*accepted, full);
    accepted->handle(event::request);
}

// A client by socket address has no peer before its bind: nobody can have an answer for it, whoever
// he says he is.
bool expects(const ep& asked, std::uint64_t uid) {
    const cm::ep_part* part = asked.by_socket();
    return asked.remote().uid() == uid && (part == nullptr || !part->waits_for_bind());
}

// An answer must come from the worker that the endpoint belongs to.
ep* addressed(worker& owner, const wireup_header& header) {
    ep* found = owner.find_ep(header.peer_ep_or_number);
    if (found == nullptr || !expects(*found, header.uid)) {
        ucs::log::debug(wireup_log,
                        "a connection message of worker {:x} for an endpoint that is "
                        "gone was dropped",
                        header.uid);
        return nullptr;
    }
    return found;
}

// The end of an endpoint that is not, or not any more, the other half of this one.
bool is_of_another(const ep& to, const wireup_header& header) {
    const bool ends = header.type == wireup_type::close || header.type == wireup_type::failed;
    return ends && is_established(to.connection()) && to.remote_id() != header.ep;
}

std::uint64_t token_of(const wireup_header& header) {
    std::uint64_t token = 0;
    std::memcpy(&token, header.pad, sizeof header.pad);
    return token;
}

void on_bind(worker& owner, const wireup_header& header, std::span<const std::byte> address,
             bool full) {
    if (header.peer_uid != owner.uid()) {
        on_stray_request(owner, header, address);
        return;
    }
    ep* client = owner.find_ep(header.peer_ep_or_number);
    const cm::ep_part* part = client == nullptr ? nullptr : client->by_socket();
    const bool waits = part != nullptr && part->which() == cm::ep_part::half::client &&
                       part->token() == token_of(header) && client->failure() == UCS_OK;
    // Asked again over another lane, or for the first time.
    const bool again = part != nullptr && part->which() == cm::ep_part::half::client &&
                       expects(*client, header.uid) && client->remote_id() == header.ep;
    if (!waits && again) return;  // the client is over: the server knows or will
    if (!waits || (!part->waits_for_bind() && !again)) {
        owner.refuse(header, address);
        return;
    }
    if (!again && !owner.bind(*client, header, address)) return;
    note_room(*client, full);
    client->handle(event::request);
}

void on_reply(worker& owner, const wireup_header& header, std::span<const std::byte> address,
              bool full) {
    ep* answered = addressed(owner, header);
    const bool gone = answered == nullptr || is_over(answered->connection());
    const bool known = !gone && is_established(answered->connection());
    if (gone || (known && answered->remote_id() != header.ep)) {
        // Our request outlived its connection, or a repeated one came after the peer had closed
        // its end: the endpoint that it made has no other half.
        owner.refuse(header, address);
        return;
    }
    if (answered->connection() == state::requested || answered->connection() == state::abandoned) {
        answered->set_remote_id(header.ep);
    }
    note_room(*answered, full);
    answered->handle(event::reply);
}

void tell_unreachable(worker& owner, const peer& refusing) noexcept {
    try {
        owner.unreachable().warn(
            wireup_log,
            "worker {:x} ({}) is unreachable: who answers at its address says that it is not there "
            "any more; {}",
            refusing.uid(), refusing.worker_name(), refusing.list_transports());
    } catch (const std::bad_alloc&) {
        owner.unreachable().warn(wireup_log, "worker {:x} is unreachable: it is not there any more",
                                 refusing.uid());
    }
}

void on_refusal(worker& owner, ep& refused) {
    if (refused.by_socket() != nullptr) {
        // A client that asked was there a moment ago.
        refused.handle(event::failure, UCS_ERR_CONNECTION_RESET);
        return;
    }
    if (refused.failure() == UCS_OK) tell_unreachable(owner, refused.remote());
    refused.handle(event::failure, UCS_ERR_UNREACHABLE);
}

void on_message(void* arg, void* data, std::size_t length) {
    auto& owner = *static_cast<worker*>(arg);
    wireup_header header;
    if (!read_header(owner, wire::wireup, data, length, header)) return;
    const bool full = take_no_room(header.type);
    const std::span body(static_cast<const std::byte*>(data) + sizeof header,
                         length - sizeof header);
    if (header.type == wireup_type::request) {
        on_request(owner, header, body, full);
        return;
    }
    if (header.type == wireup_type::reply) {
        on_reply(owner, header, body, full);
        return;
    }
    if (header.type == wireup_type::bind) {
        on_bind(owner, header, body, full);
        return;
    }
    ep* to = addressed(owner, header);
    if (to == nullptr || is_of_another(*to, header)) return;
    switch (header.type) {
        case wireup_type::close:
            to->handle(event::peer_close);
            return;
        case wireup_type::failed:
            to->handle(event::peer_failure, UCS_ERR_CONNECTION_RESET);
            return;
        case wireup_type::refuse:
            on_refusal(owner, *to);
            return;
        case wireup_type::bind:
        case wireup_type::request:
        case wireup_type::reply:
            return;
    }
    owner.rejected().warn(wireup_log, "a connection message of unknown type {} was dropped",
                          static_cast<unsigned>(header.type));
}

}  // namespace

void send_request(ep& from) {
    send(from, wireup_type::request, from.number(), from.owner().address(false));
}

void send_reply(ep& from) {
    send(from, wireup_type::reply, from.remote_id(), from.owner().address(false));
}

void send_bind(ep& from) {
    wireup_header header = header_of(from, wireup_type::bind, from.remote_id());
    const std::uint64_t token = from.by_socket()->token();
    std::memcpy(header.pad, &token, sizeof header.pad);
    from.remote().send_control(wire::wireup, std::as_bytes(std::span(&header, 1)),
                               from.owner().address(false));
}

void send_close(ep& from) {
    from.say_last(wireup_type::close);
}

void send_failed(ep& from) {
    from.say_last(wireup_type::failed);
}

ucs_status_t send_last_word(ep& from, wireup_type type) {
    const auto pack = [](void* arg, void* into, std::size_t) {
        std::memcpy(into, arg, sizeof(wireup_header));
        return sizeof(wireup_header);
    };
    wireup_header header = header_of(from, type, from.remote_id());
    const ssize_t sent = from.remote().am().am_bcopy(wire::wireup, pack, &header);
    return sent < 0 ? static_cast<ucs_status_t>(sent) : UCS_OK;
}

void send_refusal(peer& to, const wireup_header& unwanted) {
    // In the name of whoever was asked: the endpoint that waits knows no other.
    const wireup_header header{wireup_type::refuse, {}, unwanted.peer_uid,
                               unwanted.uid,        0,  unwanted.ep};
    to.send_control(wire::wireup, std::as_bytes(std::span(&header, 1)));
}

void listen(worker& owner, uct::iface& on) {
    handler_of<wire::wireup>::install<on_message>(on, &owner);
}

}  // namespace ucp::wireup
