// Datatypes.
#include "ucp/dt/datatype.hpp"

#include "ucp/capi/check.hpp"
#include "ucp/capi/handles.hpp"

using namespace ucp::capi;

extern "C" {

ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t* ops, void* context,
                                   ucp_datatype_t* datatype_p) {
    if (ops == nullptr || datatype_p == nullptr) {
        return refuse("ucp_dt_create_generic", "ops or datatype_p is NULL");
    }
    const auto made = ucp::dt::create_generic(*ops, context);
    if (!made) return made.status();
    *datatype_p = *made;
    return UCS_OK;
}

void ucp_dt_destroy(ucp_datatype_t datatype) {
    ucp::dt::destroy(datatype);
}

ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t* attr) {
    if (attr == nullptr) return refuse("ucp_dt_query", "attr is NULL");
    const auto has = [attr](std::uint64_t bit) { return (attr->field_mask & bit) != 0; };
    if (!has(UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE)) return UCS_OK;
    const void* buffer = has(UCP_DATATYPE_ATTR_FIELD_BUFFER) ? attr->buffer : nullptr;
    const std::size_t count = has(UCP_DATATYPE_ATTR_FIELD_COUNT) ? attr->count : 1;
    const auto size = ucp::dt::packed_size(datatype, buffer, count);
    if (!size) return size.status();
    attr->packed_size = *size;
    return UCS_OK;
}

}  // extern "C"
