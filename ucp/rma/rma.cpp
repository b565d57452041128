#include "ucp/rma/rma.hpp"

#include <array>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/remote_choice.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/proto/tables.hpp"
#include "ucp/rma/begin.hpp"
#include "ucp/rma/remote_op.hpp"

namespace ucp {

namespace {

ucs_status_t refuse(send_kind kind, std::size_t length, std::uint64_t address, ucs_status_t status,
                    const char* reason) {
    ucs::log::error(proto_log, "a {} of {} bytes at {:#x} is refused: {}", traits(kind).title,
                    length, address, reason);
    return status;
}

const char* refusal_reason(ucs_status_t status) noexcept {
    return status == UCS_ERR_REJECTED ? "the key does not allow it"
                                      : "that is outside of the key's memory";
}

// Returns true if the registration that the program passed covers the buffer.
bool is_covered(remote_op& state, const operation& params) {
    const auto* memh = reinterpret_cast<const mem::memory*>(params.memh());
    if (memh == nullptr) return true;
    std::array<uct::iov, 16> pieces;
    for (std::size_t offset = 0; offset < state.buffer.length();) {
        const dt::piece_list list =
            state.buffer.pieces(offset, state.buffer.length() - offset, std::span(pieces));
        for (const uct::iov& piece : std::span(pieces).first(list.count)) {
            if (!memh->covers(piece.base, piece.length)) return false;
        }
        offset += list.length;
    }
    return true;
}

// Returns UCS_OK if the operation may begin.
ucs_status_t check(remote_op& state, const mem::rkey& key, const operation& params) {
    const std::size_t length = state.buffer.length();
    if (!is_covered(state, params)) {
        return refuse(state.kind, length, state.address, UCS_ERR_INVALID_PARAM,
                      "param.memh does not cover the buffer");
    }
    if (length == 0) return UCS_OK;
    const std::uint8_t wanted = state.kind == send_kind::put ? mem::may_write : mem::may_read;
    const ucs_status_t status = key.check(state.address, length, wanted);
    return status == UCS_OK
               ? UCS_OK
               : refuse(state.kind, length, state.address, status, refusal_reason(status));
}

ucs_status_t describe(request& fresh, send_kind kind, const void* buffer, std::size_t count,
                      std::uint64_t address, const mem::rkey& key, const operation& params) {
    const ucp_datatype_t datatype = params.datatype();
    if (dt::is_generic(datatype)) {
        fresh.start_send<remote_op>();
        return refuse(kind, count, address, UCS_ERR_UNSUPPORTED,
                      "the datatype is neither contiguous nor a list of pieces");
    }
    // A buffer on a device is staged when the protocol is known.
    const ucs_status_t status = describe_host_send<remote_op>(fresh, kind, buffer, count, datatype);
    if (status != UCS_OK) return status;
    auto& state = fresh.as<remote_op>();
    state.set_target(address, key);
    if (const ucs_status_t refused = check(state, key, params); refused != UCS_OK) return refused;
    const std::size_t length = state.buffer.length();
    state.window =
        kind == send_kind::put ? key.writable(address, length) : key.readable(address, length);
    return UCS_OK;
}

ucs_status_ptr_t begin(ep& endpoint, send_kind kind, const void* buffer, std::size_t count,
                       std::uint64_t address, const mem::rkey& key, const operation& params) {
    return begin_remote(endpoint, params, [&](request& fresh) {
        return describe(fresh, kind, buffer, count, address, key, params);
    });
}

const protocol& choose(const request& started) {
    const auto& state = started.as<remote_op>();
    if (state.window != nullptr) return rma_direct;
    if (state.kind == send_kind::atomic) return rma_atomic_message;
    const peer& to = started.via->remote();
    const std::size_t length = state.buffer.length();
    const bool put = state.kind == send_kind::put;
    if (to.lanes().device.is_open() && state.key->key_for(mem::cuda_devices) != nullptr)
        return rma_device_copy;
    if (state.key->is_on_device() && state.key->key_for(to.lanes().rma_device()) == nullptr)
        return put ? rma_put_messages : rma_get_messages;
    // A lane to the peer's memory takes data of a device from host memory, as messages do; these
    // need not wait until all of it is there.
    if (put && state.buffer.on_device() && length > longest_staged) return rma_put_messages;
    if (to.lanes().rail_count() > 0) {
        // The device needs no help of the memory's owner, which may be busy or make no progress at
        // all.
        if (state.key->key_for(to.lanes().rma_device()) == nullptr)
            return put ? rma_put_messages : rma_get_messages;
        return put && length <= to.lanes().rma_attr().max_put_bcopy ? rma_put_copied
                                                                    : rma_single_copy;
    }
    const lane_set lanes = lane_set_for(to, length);
    if (lanes.rma != nullptr &&
        prefers_single_copy(put ? estimate_put(lanes, length) : estimate_get(lanes, length))) {
        return rma_single_copy;
    }
    return put ? rma_put_messages : rma_get_messages;
}

}  // namespace

ucs_status_ptr_t rma_put_other(ep& to, const void* buffer, std::size_t count, std::uint64_t address,
                               const mem::rkey& key, const operation& params) {
    return begin(to, send_kind::put, buffer, count, address, key, params);
}

ucs_status_ptr_t rma_get_other(ep& from, void* buffer, std::size_t count, std::uint64_t address,
                               const mem::rkey& key, const operation& params) {
    return begin(from, send_kind::get, buffer, count, address, key, params);
}

bool fence(worker& owner) {
    bool all = true;
    owner.endpoints().for_each([&all](ep& each) { all = fence(each) && all; });
    return all;
}

void start_rma(request& started) {
    start_rma_with(started, choose(started));
}

void start_rma_with(request& started, const protocol& chosen) {
    auto& state = started.as<remote_op>();
    const bool moves_any_memory = &chosen == &rma_device_copy || &chosen == &rma_direct;
    if (state.buffer.on_device() && !moves_any_memory) {
        if (const ucs_status_t status = prepare_device_send(started); status != UCS_OK) {
            finish_send(started, status);
            return;
        }
    }
    start_with(started, chosen);
}

// `start_rma` ends or queues the operation.
constinit const protocol rma_waiting{"rma/waiting", "waits for its connection or behind a fence",
                                     nullptr,
                                     [](request& waiting) {
                                         start_rma(waiting);
                                         return UCS_OK;
                                     },
                                     false};

ucs_status_t request_from_owner(request& send, uct::am_id id, uct::pack_function pack) {
    if (!can_request(send)) return UCS_OK;
    if (!assign_id(send)) {
        end_unrequested(send, UCS_ERR_NO_MEMORY);
        return UCS_OK;
    }
    const ssize_t sent = send.via->lane().am_bcopy(id, pack, &send);
    if (sent >= 0) {
        note_requested(*send.via);
        return UCS_OK;
    }
    release_id(send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    end_unrequested(send, static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

void abandon_request(request& send) {
    release_hold(send);
}

ucs_status_t scatter(send_state& into, std::size_t offset, const void* data,
                     std::size_t length) noexcept {
    return length > 0 ? into.buffer.write(offset, data, length) : UCS_OK;
}

}  // namespace ucp
