// Carries out operations that peers request on memory registered here. All data here comes from a
// peer and is checked: the endpoint that it names identifies the peer, and the table of registered
// memory gives its rights.
#include "ucp/rma/target.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/mem/staging.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/order.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/store.hpp"
#include "ucp/rma/wire.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucs/memory/copy_any.hpp"
#include "uct/base/atomic_value.hpp"
#include "uct/sm/memory/apply_atomic.hpp"

namespace ucp {

namespace {

// Returns the endpoint to the requester, or nullptr.
ep* find_endpoint(worker& owner, std::uint64_t id) noexcept {
    ep* const found = owner.endpoints().find(id);
    return found != nullptr && wireup::may_answer(*found) ? found : nullptr;
}

// Like find_endpoint, for operations that need a reply. Returns nullptr also if the requester has
// more operations outstanding than it may have. Each reply that is owed is sent by
// send_reply_message or ends with a reply request.
ep* find_reply_endpoint(worker& owner, std::uint64_t id) {
    ep* const requester = find_endpoint(owner, id);
    if (requester == nullptr || slot_of<owed_replies>(*requester).add()) return requester;
    owner.log().rejected().warn(
        proto_log,
        "worker {:x} does not take the answers that it asks for: its endpoint "
        "fails",
        requester->remote().uid());
    wireup::handle(*requester, wireup::event::failure, UCS_ERR_EXCEEDS_LIMIT);
    return nullptr;
}

// A reply that `key`, our endpoint, owes has left or is not needed any more.
void reply_ended(worker& owner, std::uint64_t key, bool /*is_stopped*/) {
    if (ep* const replying = owner.endpoints().find(key); replying != nullptr)
        slot_of<owed_replies>(*replying).note_sent();
}

template<class Header>
void send_reply_message(const ep& to, wire::id id, const Header& header) {
    to.remote().control().send(id, std::as_bytes(std::span(&header, 1)), {},
                               {reply_ended, to.id()});
}

const char* reason_of(ucs_status_t status) noexcept {
    switch (status) {
        case UCS_ERR_INVALID_PARAM:
            return "it is impossible";
        case UCS_ERR_REJECTED:
            return "its key does not allow it";
        case UCS_ERR_INVALID_ADDR:
            return "it has no key to such memory";
        default:
            return ucs_status_string(status);
    }
}

void refuse(worker& owner, const ep& requester, const char* operation, std::uint64_t length,
            std::uint64_t address, ucs_status_t status) {
    owner.log().rejected().warn(
        proto_log, "a {} of {} bytes at {:#x} by worker {:x} is refused: {}", operation, length,
        address, requester.remote().uid(), reason_of(status));
}

void send_result(const ep& to, std::uint64_t reply, ucs_status_t status, std::uint64_t value) {
    send_reply_message(to, wire::rma_result, wire::result_header{reply, status, value});
}

mem::access_request access_request_for(const wire::put_header& header,
                                       std::size_t length) noexcept {
    return {{header.id, header.secret}, header.address, length, mem::may_write};
}

// --- put ---

// The transport calls locate_put again for each part of a put that lands, and if the memory is
// gone no other handler learns of it. The log gets one line for all refusals that are reported to
// the peer once.
void refuse_put(worker& owner, const wire::put_header& header, std::size_t length,
                ucs_status_t status) {
    ep* const requester = find_endpoint(owner, header.ep);
    if (requester == nullptr || !slot_of<owed_replies>(*requester).record_refusal(status)) return;
    refuse(owner, *requester, "put", length, header.address, status);
}

void deliver_put(void* arg, uct::peer_bytes message) {
    worker& owner = *static_cast<worker*>(arg);
    wire::put_header header;
    if (!read_header(owner, wire::rma_put, message, header)) return;
    const uct::peer_bytes data = message.after(sizeof header);
    const mem::scoped_access into(owner.accessor(), access_request_for(header, data.size()));
    ucs_status_t status = into.status();
    if (status == UCS_OK && !into.is_on_device()) {
        store_once(into.address(), data.payload(), data.size());
    } else if (status == UCS_OK) {
        status = ucs::memory::copy_any(into.address(), data.payload(), data.size());
    }
    if (status != UCS_OK) refuse_put(owner, header, data.size(), status);
}

// Data that must be stored as a whole may not land in pieces, because a program may read it
// meanwhile. The worker holds the memory until the bytes have been received, see
// worker::progress_slow.
void* locate_put(void* arg, const void* header_bytes, std::size_t length) noexcept {
    if (length <= stored_once) return nullptr;
    wire::put_header header;
    std::memcpy(&header, header_bytes, sizeof header);
    worker& owner = *static_cast<worker*>(arg);
    const mem::memory_accessor::entry into =
        owner.accessor().enter(access_request_for(header, length));
    if (into.status != UCS_OK) refuse_put(owner, header, length, into.status);
    return into.is_on_device ? nullptr : into.address;
}

void landed_put(void* arg, const void*, std::size_t) {
    static_cast<worker*>(arg)->accessor().leave();
}

// --- get ---

// State of the data for a get.
struct memory_reply : send_state {
    std::uint64_t reply = 0;    // the peer's get
    std::uint64_t address = 0;  // of the data
    mem::credentials owner;     // of the memory
    bool counted = false;       // counted as waiting for its peer
    // A part of memory of a device, which was copied to host memory; nullptr: none.
    std::byte* staging = nullptr;
    std::size_t staged_from = 0;
    std::size_t staged_end = 0;
};

// Memory of a device is copied to the host in parts of this length.
constexpr std::size_t staged_part = 256 * 1024;

struct packing {
    memory_reply* state;
    const std::byte* from;
    std::size_t end;  // of the bytes that can be read
};

std::size_t pack_data(void* arg, void* into, std::size_t capacity) {
    const auto& job = *static_cast<const packing*>(arg);
    memory_reply& state = *job.state;
    const wire::get_data_header header{state.reply, state.offset};
    std::memcpy(into, &header, sizeof header);
    const std::size_t length = std::min(capacity - sizeof header, job.end - state.offset);
    std::memcpy(static_cast<std::byte*>(into) + sizeof header, job.from, length);
    state.offset += length;
    return sizeof header + length;
}

void note_waiting(request& reply) noexcept {
    worker& owner = *reply.owner;
    if (std::exchange(reply.as<memory_reply>().counted, true)) return;
    owner.limits().take(owner.limits().waiting(), reply.via->remote().waiting_share,
                        owner.requests().cost());
}

void note_left(request& reply) noexcept {
    worker& owner = *reply.owner;
    if (!std::exchange(reply.as<memory_reply>().counted, false)) return;
    owner.limits().waiting().give_back(reply.via->remote().waiting_share, owner.requests().cost());
}

void drop_staging(memory_reply& state) noexcept {
    if (state.staging != nullptr)
        mem::free_staging(std::exchange(state.staging, nullptr), staged_part);
}

// Makes the next bytes of memory of a device available to the processor, from `address` on. Returns
// nullptr and sets the status if that fails.
const std::byte* stage_next(memory_reply& state, const std::byte* address,
                            ucs_status_t& status) noexcept {
    if (state.staging == nullptr) {
        state.staging = mem::allocate_staging(staged_part);
        state.staged_end = 0;
    }
    if (state.staging == nullptr) {
        status = UCS_ERR_NO_MEMORY;
        return nullptr;
    }
    if (state.offset >= state.staged_end) {
        const std::size_t length = std::min(staged_part, state.end - state.offset);
        status = ucs::memory::copy_any(state.staging, address, length);
        if (status != UCS_OK) return nullptr;
        state.staged_from = state.offset;
        state.staged_end = state.offset + length;
    }
    return state.staging + (state.offset - state.staged_from);
}

void end_reply(request& reply) {
    note_left(reply);
    drop_staging(reply.as<memory_reply>());
    finish_send(reply, UCS_OK);
}

// Copies into the transport's buffers piece by piece. Nothing refers to the memory in between, so
// it can be unmapped at any time.
ucs_status_t progress_reply(request& send) {
    auto& state = send.as<memory_reply>();
    while (state.offset < state.end) {
        const mem::scoped_access from(
            send.owner->accessor(),
            {state.owner, state.address + state.offset, state.end - state.offset, mem::may_read});
        ucs_status_t status = from.status();
        const std::byte* bytes = from.address();
        std::size_t available = state.end;
        if (status == UCS_OK && from.is_on_device()) {
            bytes = stage_next(state, from.address(), status);
            available = state.staged_end;
        }
        if (status != UCS_OK) {
            send_result(*send.via, state.reply, status, 0);
            end_reply(send);
            return UCS_OK;
        }
        packing job{&state, bytes, available};
        const ssize_t sent = send.via->lane().am_bcopy(wire::rma_data, pack_data, &job);
        if (sent == UCS_ERR_NO_RESOURCE) {
            note_waiting(send);
            return UCS_ERR_NO_RESOURCE;
        }
        if (sent < 0) break;  // the lane failed; both sides learn of it
    }
    slot_of<owed_replies>(*send.via).note_sent();
    end_reply(send);
    return UCS_OK;
}

// The program closed the endpoint by force. Only this message tells the requester that no data
// follows.
void abandon_reply(request& send) {
    note_left(send);
    drop_staging(send.as<memory_reply>());
    send_result(*send.via, send.as<memory_reply>().reply, UCS_ERR_CONNECTION_RESET, 0);
}

void on_get(worker& owner, const wire::get_header& header) {
    ep* const requester = find_reply_endpoint(owner, header.ep);
    if (requester == nullptr) return;
    const mem::access_request wanted{
        {header.id, header.secret}, header.address, header.length, mem::may_read};
    ucs_status_t status = mem::scoped_access(owner.accessor(), wanted).status();
    if (header.length == 0) status = UCS_ERR_INVALID_PARAM;
    if (status != UCS_OK) {
        refuse(owner, *requester, "get", header.length, header.address, status);
        send_result(*requester, header.reply, status, 0);
        return;
    }
    request* const reply = owner.requests().get();
    if (reply == nullptr) return send_result(*requester, header.reply, UCS_ERR_NO_MEMORY, 0);
    reply->flags.assign(request_flags::internal);
    reply->status = UCS_INPROGRESS;
    reply->owner = &owner;
    auto& state = reply->start_send<memory_reply>();
    state.kind = send_kind::reply;
    state.address = header.address;
    state.owner = wanted.owner;
    state.reply = header.reply;
    state.end = header.length;
    requester->operations().add_send(*reply);
    start_with(*reply, rma_reply);
}

// --- atomic ---

// No processor instruction reaches the memory. All atomic operations on it come here, because no
// peer maps it, so one lock for all workers of this process makes them atomic towards each other.
// Programs that run on the device take no part.
ucs_status_t apply_on_device(std::byte* word, const uct::atomic_op& op,
                             std::uint64_t& before) noexcept {
    static std::mutex lock;
    const std::lock_guard guard(lock);
    std::uint64_t value = 0;
    ucs_status_t status = ucs::memory::copy_any(&value, word, op.size);
    if (status != UCS_OK) return status;
    before = value;
    value = op.size == 8 ? uct::value_after(op, value)
                         : uct::value_after(op, static_cast<std::uint32_t>(value));
    return ucs::memory::copy_any(word, &value, op.size);
}

void on_atomic(worker& owner, const wire::atomic_header& header) {
    ep* const requester =
        header.reply != 0 ? find_reply_endpoint(owner, header.ep) : find_endpoint(owner, header.ep);
    if (requester == nullptr) return;
    const uct::atomic_op op{static_cast<uct::atomic_kind>(header.operation), header.size,
                            header.operand, header.swap};
    std::uint64_t before = 0;
    ucs_status_t status = UCS_ERR_INVALID_PARAM;
    if (header.operation < uct::atomic_kinds && op.possible() &&
        header.address % header.size == 0) {
        const mem::scoped_access target(
            owner.accessor(),
            {{header.id, header.secret}, header.address, header.size, mem::all_access});
        status = target.status();
        if (status == UCS_OK && target.is_on_device()) {
            status = apply_on_device(target.address(), op, before);
        } else if (status == UCS_OK) {
            before = uct::sm::apply_atomic(target.address(), op);
        }
    }
    if (status != UCS_OK) {
        refuse(owner, *requester, "atomic operation", header.size, header.address, status);
        if (header.reply == 0) slot_of<owed_replies>(*requester).record_refusal(status);
    }
    if (header.reply != 0) send_result(*requester, header.reply, status, before);
}

// --- confirm ---

void on_confirm(worker& owner, const wire::confirm_header& header) {
    ep* const requester = find_reply_endpoint(owner, header.ep);
    if (requester == nullptr) return;
    send_reply_message(*requester, wire::rma_confirmed,
                       wire::confirmed_header{requester->remote_id(), header.count,
                                              slot_of<owed_replies>(*requester).take_refused()});
}

}  // namespace

constinit const protocol rma_reply{
    "rma/reply", "the data that a peer asked for", nullptr, progress_reply, false, abandon_reply,
};

void rma_listen(worker& owner, uct::iface& iface) {
    handler_of<wire::rma_put>::install<deliver_put, locate_put, landed_put>(
        iface, &owner, sizeof(wire::put_header));
    handler_of<wire::rma_get>::install_plain<wire::get_header, on_get>(iface, owner);
    handler_of<wire::rma_atomic>::install_plain<wire::atomic_header, on_atomic>(iface, owner);
    handler_of<wire::rma_confirm>::install_plain<wire::confirm_header, on_confirm>(iface, owner);
}

}  // namespace ucp
