#include "ucp/dt/datatype.hpp"

#include <new>

#include "ucs/log/log.hpp"

namespace ucp::dt {

namespace {

constinit ucs::log::component log_source("ucp.dt");

ucs::result<std::size_t> generic_size(const generic& type, const void* buffer, std::size_t count) {
    if (type.ops.start_pack == nullptr || type.ops.packed_size == nullptr) {
        ucs::log::error(log_source,
                        "ucp_dt_query: the generic datatype has no start_pack or packed_size");
        return UCS_ERR_INVALID_PARAM;
    }
    void* state = type.ops.start_pack(type.context, buffer, count);
    const std::size_t size = type.ops.packed_size(state);
    if (type.ops.finish != nullptr) type.ops.finish(state);
    return size;
}

}  // namespace

ucs_status_t reject(const char* call, ucp_datatype_t datatype, const void* buffer,
                    std::size_t count, const char* reason) noexcept {
    ucs::log::error(log_source, "{}: {} (datatype {:#x}, buffer {}, count {})", call, reason,
                    datatype, buffer, count);
    return UCS_ERR_INVALID_PARAM;
}

ucs::result<std::size_t> iov_length(const ucp_dt_iov_t* pieces, std::size_t count) {
    if (pieces == nullptr && count > 0) {
        return reject("iov", UCP_DATATYPE_IOV, pieces, count, "there is no array of pieces");
    }
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (pieces[i].buffer == nullptr && pieces[i].length > 0) {
            return reject("iov", UCP_DATATYPE_IOV, pieces, count,
                          "a piece has a length, but no memory");
        }
        if (__builtin_add_overflow(sum, pieces[i].length, &sum)) {
            return reject("iov", UCP_DATATYPE_IOV, pieces, count,
                          "the sum of the lengths overflows");
        }
    }
    return sum;
}

ucs::result<ucp_datatype_t> create_generic(const ucp_generic_dt_ops_t& ops, void* context) {
    const generic* type = new (std::nothrow) generic{ops, context};
    if (type == nullptr) {
        ucs::log::error(log_source, "ucp_dt_create_generic: out of memory");
        return UCS_ERR_NO_MEMORY;
    }
    return static_cast<ucp_datatype_t>(reinterpret_cast<std::uintptr_t>(type)) |
           UCP_DATATYPE_GENERIC;
}

void destroy(ucp_datatype_t datatype) noexcept {
    if (is_generic(datatype)) delete generic_of(datatype);
}

ucs::result<std::size_t> packed_size(ucp_datatype_t datatype, const void* buffer,
                                     std::size_t count) {
    if (is_iov(datatype)) return iov_length(static_cast<const ucp_dt_iov_t*>(buffer), count);
    if (is_generic(datatype)) return generic_size(*generic_of(datatype), buffer, count);
    if (!is_contig(datatype)) {
        return reject("ucp_dt_query", datatype, buffer, count, "unknown class of datatype");
    }
    std::size_t length = 0;
    if (!contig_length(datatype, count, length)) {
        return reject("ucp_dt_query", datatype, buffer, count, "more bytes than memory can hold");
    }
    return length;
}

}  // namespace ucp::dt
