#include "ucp/dt/recv_buffer.hpp"

namespace ucp::dt {

ucs_status_t recv_buffer::start(void* memory, std::size_t count, ucp_datatype_t datatype) noexcept {
    if (!is_generic(datatype)) return init_other("receive", memory, count, datatype);
    const generic* type = generic_of(datatype);
    const ucp_generic_dt_ops_t& ops = type->ops;
    if (ops.start_unpack == nullptr || ops.packed_size == nullptr || ops.unpack == nullptr) {
        clear();
        return reject("receive", datatype, memory, count,
                      "the generic datatype has no start_unpack, packed_size or unpack");
    }
    init_generic(type, ops.start_unpack(type->context, memory, count));
    return UCS_OK;
}

ucs_status_t recv_buffer::unpack_other(const void* from, std::size_t offset,
                                       std::size_t length) noexcept {
    if (length == 0) return UCS_OK;
    if (kind_ == kind::generic) {
        return generic_.type->ops.unpack(generic_.state, offset, from, length);
    }
    if (device_pipeline* const attached = pipeline(); attached != nullptr)
        return attached->write(offset, from, length);
    return write(offset, from, length);
}

}  // namespace ucp::dt
