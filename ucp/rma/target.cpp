// Everything here comes from a peer and is checked: who it is by the endpoint that it names, what
// it may do by the table of registered memory.
#include "ucp/rma/target.hpp"

#include <algorithm>
#include <cstring>

#include "ucp/core/handler.hpp"
#include "ucp/core/log.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/protocols.hpp"
#include "ucp/rma/store.hpp"
#include "ucp/rma/wire.hpp"
#include "uct/sm/memory/apply_atomic.hpp"

namespace ucp {

namespace {

// The endpoint to whoever asks, or nullptr.
ep* asking(worker& owner, std::uint64_t id) noexcept {
    ep* const found = owner.find_ep(id);
    return found != nullptr && found->may_answer() ? found : nullptr;
}

// The same for what has to be answered: nullptr also for who asks more than it may. Each one is
// paid by `pay` or by the end of a reply.
ep* asking_for_answer(worker& owner, std::uint64_t id) {
    ep* const by = asking(owner, id);
    if (by == nullptr || by->owe_answer()) return by;
    owner.rejected().warn(proto_log,
                          "worker {:x} does not take the answers that it asks for: its endpoint "
                          "fails",
                          by->remote().uid());
    by->handle(wireup::event::failure, UCS_ERR_EXCEEDS_LIMIT);
    return nullptr;
}

template<class Header>
void pay(const ep& to, wire::id id, const Header& header) {
    to.remote().send_control(id, std::as_bytes(std::span(&header, 1)), {}, to.id());
}

void refuse(worker& owner, const ep& by, const char* what, std::uint64_t length,
            std::uint64_t address, ucs_status_t status) {
    owner.rejected().warn(proto_log, "a {} of {} bytes at {:#x} by worker {:x} is refused: {}",
                          what, length, address, by.remote().uid(),
                          status == UCS_ERR_INVALID_PARAM ? "it is impossible"
                          : status == UCS_ERR_REJECTED    ? "its key does not allow it"
                                                          : "it has no key to such memory");
}

void answer(const ep& to, std::uint64_t reply, ucs_status_t status, std::uint64_t value) {
    pay(to, wire::rma_result, wire::result_header{reply, status, value});
}

mem::wish wish_of(const wire::put_header& header, std::size_t length) noexcept {
    return {{header.id, header.secret}, header.address, length, mem::may_write};
}

// --- put ---

// A put that lands is asked for its place again and again, and nobody else hears of it when that is
// gone. One line for all that the peer is told of once.
void refuse_put(worker& owner, const wire::put_header& header, std::size_t length,
                ucs_status_t status) {
    ep* const by = asking(owner, header.ep);
    if (by == nullptr || !by->note_refused(status)) return;
    refuse(owner, *by, "put", length, header.address, status);
}

void deliver_put(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::put_header header;
    if (!read_header(owner, wire::rma_put, message, header)) return;
    const uct::peer_bytes data = message.behind(sizeof header);
    const mem::visit into(owner.visitor(), wish_of(header, data.size()));
    if (into.status() == UCS_OK) {
        store_once(into.at(), data.payload(), data.size());
        return;
    }
    refuse_put(owner, header, data.size(), into.status());
}

// What is stored as a whole may not land by pieces: a program looks at it meanwhile. The worker is
// inside the memory until the bytes have been received, see worker::progress_slow.
void* locate_put(void* arg, const void* at, std::size_t length) noexcept {
    if (length <= stored_once) return nullptr;
    wire::put_header header;
    std::memcpy(&header, at, sizeof header);
    worker& owner = *static_cast<worker*>(arg);
    const mem::visitor::entry into = owner.visitor().enter(wish_of(header, length));
    if (into.status != UCS_OK) refuse_put(owner, header, length, into.status);
    return into.at;
}

void landed_put(void* arg, const void*, std::size_t) {
    static_cast<worker*>(arg)->visitor().leave();
}

// --- get ---

struct packing {
    request* reply;
    const std::byte* from;
};

std::size_t pack_data(void* arg, void* into, std::size_t capacity) {
    const auto& job = *static_cast<const packing*>(arg);
    send_state& state = job.reply->state.send;
    const wire::get_data_header header{state.remote_id, state.offset};
    std::memcpy(into, &header, sizeof header);
    const std::size_t length = std::min(capacity - sizeof header, state.end - state.offset);
    std::memcpy(static_cast<std::byte*>(into) + sizeof header, job.from, length);
    state.offset += length;
    return sizeof header + length;
}

void note_waiting(request& reply) noexcept {
    worker& owner = *reply.owner;
    if (std::exchange(reply.state.send.counted, true)) return;
    owner.take(owner.waiting(), reply.via->remote().waiting_share, owner.requests().cost());
}

void note_left(request& reply) noexcept {
    worker& owner = *reply.owner;
    if (!std::exchange(reply.state.send.counted, false)) return;
    owner.waiting().give_back(reply.via->remote().waiting_share, owner.requests().cost());
}

void end_reply(request& reply) {
    note_left(reply);
    finish_send(reply, UCS_OK);
}

// Copied into the transport's buffers piece by piece: nothing refers to the memory in between, so
// it can be unmapped at any time.
ucs_status_t progress_reply(request& send) {
    send_state& state = send.state.send;
    while (state.offset < state.end) {
        const mem::visit from(send.owner->visitor(),
                              {state.owner_of_memory(), state.what + state.offset,
                               state.end - state.offset, mem::may_read});
        if (from.status() != UCS_OK) {
            answer(*send.via, state.remote_id, from.status(), 0);
            end_reply(send);
            return UCS_OK;
        }
        packing job{&send, from.at()};
        const ssize_t sent = send.via->lane().am_bcopy(wire::rma_data, pack_data, &job);
        if (sent == UCS_ERR_NO_RESOURCE) {
            note_waiting(send);
            return UCS_ERR_NO_RESOURCE;
        }
        if (sent < 0) break;  // the lane failed, and both sides hear of it
    }
    send.via->answer_left();
    end_reply(send);
    return UCS_OK;
}

// Our program closed by force: nobody else tells whoever waits for the data.
void abandon_reply(request& send) {
    note_left(send);
    answer(*send.via, send.state.send.remote_id, UCS_ERR_CONNECTION_RESET, 0);
}

void on_get(worker& owner, const wire::get_header& header) {
    ep* const by = asking_for_answer(owner, header.ep);
    if (by == nullptr) return;
    const mem::wish wanted{
        {header.id, header.secret}, header.address, header.length, mem::may_read};
    ucs_status_t status = mem::visit(owner.visitor(), wanted).status();
    if (header.length == 0) status = UCS_ERR_INVALID_PARAM;
    if (status != UCS_OK) {
        refuse(owner, *by, "get", header.length, header.address, status);
        answer(*by, header.reply, status, 0);
        return;
    }
    request* const reply = owner.requests().get();
    if (reply == nullptr) return answer(*by, header.reply, UCS_ERR_NO_MEMORY, 0);
    reply->flags.assign(request_flags::internal);
    reply->status = UCS_INPROGRESS;
    reply->owner = &owner;
    send_state& state = reply->start_send();
    state.kind = send_kind::reply;
    state.what = header.address;
    state.set_owner_of_memory(wanted.owner);
    state.local_window = nullptr;
    state.remote_id = header.reply;
    state.end = header.length;
    by->add_send(*reply);
    start_with(*reply, rma_reply);
}

// --- atomic ---

void on_atomic(worker& owner, const wire::atomic_header& header) {
    ep* const by =
        header.reply != 0 ? asking_for_answer(owner, header.ep) : asking(owner, header.ep);
    if (by == nullptr) return;
    const uct::atomic_op op{static_cast<uct::atomic_kind>(header.operation), header.size,
                            header.operand, header.swap};
    std::uint64_t before = 0;
    ucs_status_t status = UCS_ERR_INVALID_PARAM;
    if (header.operation < uct::atomic_kinds && op.possible() &&
        header.address % header.size == 0) {
        const mem::visit at(
            owner.visitor(),
            {{header.id, header.secret}, header.address, header.size, mem::all_access});
        status = at.status();
        if (status == UCS_OK) before = uct::sm::apply_atomic(at.at(), op);
    }
    if (status != UCS_OK) {
        refuse(owner, *by, "atomic operation", header.size, header.address, status);
        if (header.reply == 0) by->note_refused(status);
    }
    if (header.reply != 0) answer(*by, header.reply, status, before);
}

// --- confirm ---

void on_confirm(worker& owner, const wire::confirm_header& header) {
    ep* const by = asking_for_answer(owner, header.ep);
    if (by == nullptr) return;
    pay(*by, wire::rma_confirmed,
        wire::confirmed_header{by->remote_id(), header.count, by->take_refused()});
}

}  // namespace

constinit const protocol rma_reply{
    "rma/reply", "the data that a peer asked for", nullptr, progress_reply, false, abandon_reply,
};

void rma_listen(worker& owner, uct::iface& on) {
    handler_of<wire::rma_put>::install<deliver_put, locate_put, landed_put>(
        on, &owner, sizeof(wire::put_header));
    handler_of<wire::rma_get>::install_plain<wire::get_header, on_get>(on, owner);
    handler_of<wire::rma_atomic>::install_plain<wire::atomic_header, on_atomic>(on, owner);
    handler_of<wire::rma_confirm>::install_plain<wire::confirm_header, on_confirm>(on, owner);
}

}  // namespace ucp
