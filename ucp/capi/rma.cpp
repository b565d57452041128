// Put, get and atomic operations.
#include "ucp/rma/rma.hpp"

#include "ucp/amo/amo.hpp"
#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/capi/legacy.hpp"
#include "ucs/memory/copy_any.hpp"

namespace {

using namespace ucp;
using namespace ucp::capi;

constexpr ucp_request_param_t no_params{};

// Returns the status for a form without a request: the operation continues, and a flush reports its
// end.
ucs_status_t status_of(ucs_status_ptr_t started) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
    const worker_guard guard(request::of(started).owner->lock());
    // Another thread may have ended the operation meanwhile.
    const ucs_status_t status = ucp_request_check_status(started);
    ucp_request_free(started);
    return status;
}

ucs_status_t post(ep& to, const uct::atomic_op& op, std::uint64_t address, ucp_rkey_h rkey) {
    return ucs::boundary(core_log, "ucp_atomic_post", [&] {
        const worker_guard guard(to.owner().lock());
        const ucs_status_t status =
            status_of(atomic(to, op, nullptr, address, from(rkey), operation(no_params)));
        // The operand was copied, and programs treat any status but UCS_OK as a failure.
        return status == UCS_INPROGRESS ? UCS_OK : status;
    });
}

// Makes progress until the operation is sent; a flush reports when the peer has carried it out.
ucs_status_t post_blocking(ucp_ep_h handle, const uct::atomic_op& op, std::uint64_t address,
                           ucp_rkey_h rkey) {
    if (handle == nullptr || rkey == nullptr) return refuse("ucp_atomic_add", "ep or rkey is NULL");
    ep& to = from(handle);
    const ucs_status_ptr_t started = ucs::boundary(core_log, "ucp_atomic_add", [&] {
        const worker_guard guard(to.owner().lock());
        return atomic(to, op, nullptr, address, from(rkey), operation(no_params));
    });
    return wait_for(to.owner(), started);
}

ucs_status_t fetch(ucp_ep_h handle, const uct::atomic_op& op, void* result, std::uint64_t address,
                   ucp_rkey_h rkey) {
    if (handle == nullptr || rkey == nullptr || result == nullptr) {
        return refuse("ucp_atomic", "ep, rkey or result is NULL");
    }
    ep& to = from(handle);
    const ucs_status_ptr_t started = ucs::boundary(core_log, "ucp_atomic", [&] {
        const worker_guard guard(to.owner().lock());
        return atomic(to, op, result, address, from(rkey), operation(no_params));
    });
    return wait_for(to.owner(), started);
}

// Reads an operand, which may lie in memory of a device. Returns the error of the device.
ucs::result<std::uint64_t> read_number(const void* source, std::size_t size) {
    std::uint64_t number = 0;
    if (size != 4 && size != 8) return number;
    const ucs_status_t status = ucs::memory::copy_any(&number, source, size);
    if (status != UCS_OK) return status;
    return number;
}

static_assert(static_cast<unsigned>(uct::atomic_kind::add) == UCP_ATOMIC_OP_ADD);
static_assert(static_cast<unsigned>(uct::atomic_kind::swap) == UCP_ATOMIC_OP_SWAP);
static_assert(static_cast<unsigned>(uct::atomic_kind::cswap) == UCP_ATOMIC_OP_CSWAP);
static_assert(static_cast<unsigned>(uct::atomic_kind::bit_and) == UCP_ATOMIC_OP_AND);
static_assert(static_cast<unsigned>(uct::atomic_kind::bit_or) == UCP_ATOMIC_OP_OR);
static_assert(static_cast<unsigned>(uct::atomic_kind::bit_xor) == UCP_ATOMIC_OP_XOR);
static_assert(uct::atomic_kinds == UCP_ATOMIC_OP_LAST);
constexpr auto no_such_operation = static_cast<uct::atomic_kind>(uct::atomic_kinds);

uct::atomic_kind post_operation(ucp_atomic_post_op_t opcode) {
    switch (opcode) {
        case UCP_ATOMIC_POST_OP_ADD:
            return uct::atomic_kind::add;
        case UCP_ATOMIC_POST_OP_AND:
            return uct::atomic_kind::bit_and;
        case UCP_ATOMIC_POST_OP_OR:
            return uct::atomic_kind::bit_or;
        case UCP_ATOMIC_POST_OP_XOR:
            return uct::atomic_kind::bit_xor;
        case UCP_ATOMIC_POST_OP_LAST:
            break;
    }
    return no_such_operation;
}

uct::atomic_kind fetch_operation(ucp_atomic_fetch_op_t opcode) {
    switch (opcode) {
        case UCP_ATOMIC_FETCH_OP_FADD:
            return uct::atomic_kind::add;
        case UCP_ATOMIC_FETCH_OP_SWAP:
            return uct::atomic_kind::swap;
        case UCP_ATOMIC_FETCH_OP_CSWAP:
            return uct::atomic_kind::cswap;
        case UCP_ATOMIC_FETCH_OP_FAND:
            return uct::atomic_kind::bit_and;
        case UCP_ATOMIC_FETCH_OP_FOR:
            return uct::atomic_kind::bit_or;
        case UCP_ATOMIC_FETCH_OP_FXOR:
            return uct::atomic_kind::bit_xor;
        case UCP_ATOMIC_FETCH_OP_LAST:
            break;
    }
    return no_such_operation;
}

// Operands of a compare-and-swap: `buffer` has the expected value, the reply buffer the new value.
ucs_status_ptr_t operate(ep& to, ucp_atomic_op_t opcode, const void* buffer, std::size_t count,
                         std::uint64_t address, const mem::rkey& key, const operation& params) {
    const ucp_datatype_t datatype = params.datatype();
    const std::size_t size = dt::is_contig(datatype) ? dt::element_size(datatype) : 0;
    if (count != 1 || buffer == nullptr || (size != 4 && size != 8)) {
        return UCS_STATUS_PTR(refuse("ucp_atomic_op_nbx",
                                     "there must be one operand of 4 or 8 bytes, according to the "
                                     "datatype"));
    }
    void* const result = params.reply_buffer();
    const auto operand = read_number(buffer, size);
    if (!operand) return UCS_STATUS_PTR(operand.status());
    uct::atomic_op op{static_cast<uct::atomic_kind>(opcode), size, *operand, 0};
    if (opcode == UCP_ATOMIC_OP_CSWAP && result != nullptr) {
        const auto swap = read_number(result, size);
        if (!swap) return UCS_STATUS_PTR(swap.status());
        op.swap = *swap;
    }
    return atomic(to, op, result, address, key, params);
}

}  // namespace

extern "C" {

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h handle, const void* buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t* param) {
    if (is_unusable(handle, param) || rkey == nullptr) [[unlikely]]
        return refuse_operation("ucp_put_nbx", param);
    ep& to = from(handle);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_put_nbx", [&] {
        return rma_put(to, buffer, count, remote_addr, from(rkey), operation(*param));
    });
}

ucs_status_ptr_t ucp_put_nb(ucp_ep_h handle, const void* buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey, ucp_send_callback_t cb) {
    const ucp_request_param_t param = legacy_send(cb);
    return ucp_put_nbx(handle, buffer, length, remote_addr, rkey, &param);
}

ucs_status_t ucp_put_nbi(ucp_ep_h handle, const void* buffer, size_t length, uint64_t remote_addr,
                         ucp_rkey_h rkey) {
    return status_of(ucp_put_nbx(handle, buffer, length, remote_addr, rkey, &no_params));
}

ucs_status_t ucp_put(ucp_ep_h handle, const void* buffer, size_t length, uint64_t remote_addr,
                     ucp_rkey_h rkey) {
    const ucs_status_ptr_t started =
        ucp_put_nbx(handle, buffer, length, remote_addr, rkey, &no_params);
    return UCS_PTR_IS_PTR(started) ? wait_for(from(handle).owner(), started)
                                   : UCS_PTR_RAW_STATUS(started);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h handle, void* buffer, size_t count, uint64_t remote_addr,
                             ucp_rkey_h rkey, const ucp_request_param_t* param) {
    if (is_unusable(handle, param) || rkey == nullptr) [[unlikely]]
        return refuse_operation("ucp_get_nbx", param);
    ep& to = from(handle);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_get_nbx", [&] {
        return rma_get(to, buffer, count, remote_addr, from(rkey), operation(*param));
    });
}

ucs_status_ptr_t ucp_get_nb(ucp_ep_h handle, void* buffer, size_t length, uint64_t remote_addr,
                            ucp_rkey_h rkey, ucp_send_callback_t cb) {
    const ucp_request_param_t param = legacy_send(cb);
    return ucp_get_nbx(handle, buffer, length, remote_addr, rkey, &param);
}

ucs_status_t ucp_get_nbi(ucp_ep_h handle, void* buffer, size_t length, uint64_t remote_addr,
                         ucp_rkey_h rkey) {
    return status_of(ucp_get_nbx(handle, buffer, length, remote_addr, rkey, &no_params));
}

ucs_status_t ucp_get(ucp_ep_h handle, void* buffer, size_t length, uint64_t remote_addr,
                     ucp_rkey_h rkey) {
    const ucs_status_ptr_t started =
        ucp_get_nbx(handle, buffer, length, remote_addr, rkey, &no_params);
    return UCS_PTR_IS_PTR(started) ? wait_for(from(handle).owner(), started)
                                   : UCS_PTR_RAW_STATUS(started);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h handle, ucp_atomic_op_t opcode, const void* buffer,
                                   size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                                   const ucp_request_param_t* param) {
    if (is_unusable(handle, param) || rkey == nullptr) [[unlikely]]
        return refuse_operation("ucp_atomic_op_nbx", param);
    ep& to = from(handle);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_atomic_op_nbx", [&] {
        return operate(to, opcode, buffer, count, remote_addr, from(rkey), operation(*param));
    });
}

ucs_status_t ucp_atomic_post(ucp_ep_h handle, ucp_atomic_post_op_t opcode, uint64_t value,
                             size_t op_size, uint64_t remote_addr, ucp_rkey_h rkey) {
    if (handle == nullptr || rkey == nullptr) {
        return refuse("ucp_atomic_post", "ep or rkey is NULL");
    }
    return post(from(handle), {post_operation(opcode), op_size, value, 0}, remote_addr, rkey);
}

ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h handle, ucp_atomic_fetch_op_t opcode, uint64_t value,
                                     void* result, size_t op_size, uint64_t remote_addr,
                                     ucp_rkey_h rkey, ucp_send_callback_t cb) {
    const ucp_request_param_t param = legacy_send(cb);
    if (handle == nullptr || rkey == nullptr || result == nullptr) {
        return UCS_STATUS_PTR(refuse("ucp_atomic_fetch_nb", "ep, rkey or result is NULL"));
    }
    ep& to = from(handle);
    const worker_guard guard(to.owner().lock());
    return ucs::boundary(core_log, "ucp_atomic_fetch_nb", [&] {
        ucs::result<std::uint64_t> swap = std::uint64_t{0};
        if (opcode == UCP_ATOMIC_FETCH_OP_CSWAP) swap = read_number(result, op_size);
        if (!swap) return UCS_STATUS_PTR(swap.status());
        return atomic(to, {fetch_operation(opcode), op_size, value, *swap}, result, remote_addr,
                      from(rkey), operation(param));
    });
}

ucs_status_t ucp_atomic_add32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr, ucp_rkey_h rkey) {
    return post_blocking(ep, {uct::atomic_kind::add, 4, add, 0}, remote_addr, rkey);
}

ucs_status_t ucp_atomic_add64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr, ucp_rkey_h rkey) {
    return post_blocking(ep, {uct::atomic_kind::add, 8, add, 0}, remote_addr, rkey);
}

ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint32_t* result) {
    return fetch(ep, {uct::atomic_kind::add, 4, add, 0}, result, remote_addr, rkey);
}

ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint64_t* result) {
    return fetch(ep, {uct::atomic_kind::add, 8, add, 0}, result, remote_addr, rkey);
}

ucs_status_t ucp_atomic_swap32(ucp_ep_h ep, uint32_t swap, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint32_t* result) {
    return fetch(ep, {uct::atomic_kind::swap, 4, swap, 0}, result, remote_addr, rkey);
}

ucs_status_t ucp_atomic_swap64(ucp_ep_h ep, uint64_t swap, uint64_t remote_addr, ucp_rkey_h rkey,
                               uint64_t* result) {
    return fetch(ep, {uct::atomic_kind::swap, 8, swap, 0}, result, remote_addr, rkey);
}

ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep, uint32_t compare, uint32_t swap, uint64_t remote_addr,
                                ucp_rkey_h rkey, uint32_t* result) {
    return fetch(ep, {uct::atomic_kind::cswap, 4, compare, swap}, result, remote_addr, rkey);
}

ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep, uint64_t compare, uint64_t swap, uint64_t remote_addr,
                                ucp_rkey_h rkey, uint64_t* result) {
    return fetch(ep, {uct::atomic_kind::cswap, 8, compare, swap}, result, remote_addr, rkey);
}

}  // extern "C"
