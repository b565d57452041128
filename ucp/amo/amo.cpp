#include "ucp/amo/amo.hpp"

#include "ucp/core/peer.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/send.hpp"
#include "ucp/rma/begin.hpp"
#include "ucp/rma/remote_op.hpp"
#include "ucp/rma/wire.hpp"

namespace ucp {

namespace {

ucs_status_t refuse(const uct::atomic_op& op, std::uint64_t address, ucs_status_t status,
                    const char* reason) {
    ucs::log::error(proto_log, "an atomic operation on {} bytes at {:#x} is refused: {}", op.size,
                    address, reason);
    return status;
}

ucs_status_t check(const uct::atomic_op& op, const void* result, std::uint64_t address,
                   const mem::rkey& key) {
    if (!op.possible()) {
        return refuse(op, address, UCS_ERR_INVALID_PARAM,
                      "there is no such operation, or numbers of that size have none");
    }
    if (address % op.size != 0) {
        return refuse(op, address, UCS_ERR_INVALID_PARAM, "the address is no multiple of the size");
    }
    if (op.must_fetch() && result == nullptr) {
        return refuse(op, address, UCS_ERR_INVALID_PARAM, "a swap needs a reply buffer");
    }
    const ucs_status_t status = key.check(address, op.size, mem::all_access);
    if (status == UCS_ERR_REJECTED) return refuse(op, address, status, "the key does not allow it");
    if (status != UCS_OK) return refuse(op, address, status, "outside of the key's memory");
    return UCS_OK;
}

ucs_status_t describe(request& fresh, const uct::atomic_op& op, void* result, std::uint64_t address,
                      const mem::rkey& key) {
    const ucs_status_t status = describe_host_send<remote_op>(
        fresh, send_kind::atomic, result, result == nullptr ? 0 : 1, ucp_dt_make_contig(op.size));
    if (status != UCS_OK) return status;
    auto& state = fresh.as<remote_op>();
    state.set_target(address, key);
    state.atomic = op;
    state.window = key.changeable(address, op.size);
    return UCS_OK;
}

std::size_t pack(void* arg, void* into, std::size_t) {
    const request& send = *static_cast<const request*>(arg);
    const auto& state = send.as<remote_op>();
    const uct::atomic_op& op = state.atomic;
    const wire::atomic_header header{send.via->remote_id(),
                                     state.owner.id,
                                     state.owner.secret,
                                     state.address,
                                     op.operand,
                                     op.swap,
                                     state.local_id,
                                     static_cast<std::uint32_t>(op.kind),
                                     static_cast<std::uint32_t>(op.size)};
    std::memcpy(into, &header, sizeof header);
    return sizeof header;
}

ucs_status_t progress(request& send) {
    const bool fetches = send.state.send.buffer.length() > 0;
    if (fetches) return request_from_owner(send, wire::rma_atomic, pack);
    note_posted(*send.via);
    const ssize_t sent = send.via->lane().am_bcopy(wire::rma_atomic, pack, &send);
    if (sent == UCS_ERR_NO_RESOURCE) return UCS_ERR_NO_RESOURCE;
    finish_send(send, sent >= 0 ? UCS_OK : static_cast<ucs_status_t>(sent));
    return UCS_OK;
}

}  // namespace

constinit const protocol rma_atomic_message{"rma/atomic_message",
                                            "sent to the owner of the memory, which carries it out",
                                            nullptr,
                                            progress,
                                            false,
                                            abandon_request};

ucs_status_ptr_t atomic_other(ep& to, const uct::atomic_op& op, void* result, std::uint64_t address,
                              const mem::rkey& key, const operation& params) {
    return begin_remote(to, params, [&](request& fresh) {
        const ucs_status_t status = check(op, result, address, key);
        return status == UCS_OK ? describe(fresh, op, result, address, key) : status;
    });
}

}  // namespace ucp
