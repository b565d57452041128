#include "ucp/dt/send_buffer.hpp"

#include "ucs/log/log.hpp"

namespace ucp::dt {

namespace {

constinit ucs::log::component log_source("ucp.dt");

}  // namespace

ucs_status_t send_buffer::start(const void* memory, std::size_t count,
                                ucp_datatype_t datatype) noexcept {
    if (!is_generic(datatype)) return init_other("send", memory, count, datatype);
    const generic* type = generic_of(datatype);
    const ucp_generic_dt_ops_t& ops = type->ops;
    if (ops.start_pack == nullptr || ops.packed_size == nullptr || ops.pack == nullptr) {
        clear();
        return reject("send", datatype, memory, count,
                      "the generic datatype has no start_pack, packed_size or pack");
    }
    init_generic(type, ops.start_pack(type->context, memory, count));
    return UCS_OK;
}

std::size_t send_buffer::pack_other(void* into, std::size_t offset, std::size_t capacity) noexcept {
    if (offset >= length_) return 0;
    const std::size_t wanted = std::min(capacity, length_ - offset);
    if (kind_ != kind::generic) return read(offset, into, wanted) == UCS_OK ? wanted : 0;
    const ucp_generic_dt_ops_t& ops = generic_.type->ops;
    std::size_t done = 0;
    while (done < wanted) {
        const std::size_t part = ops.pack(generic_.state, offset + done,
                                          static_cast<std::byte*>(into) + done, wanted - done);
        // The remaining capacity is too small for a whole element; the rest goes into the next
        // fragment.
        if (part == 0 && done > 0) break;
        if (part == 0 || part > wanted - done) {
            ucs::log::error(log_source,
                            "send: pack of a generic datatype returned {} at offset {} with room "
                            "for {}, packed size {}",
                            part, offset + done, wanted - done, length_);
            return part == 0 ? 0 : wanted;
        }
        done += part;
    }
    return done;
}

ucs_status_t send_buffer::stage_data() noexcept {
    const send_buffer original = *this;
    std::byte* const staging = stage();
    if (staging == nullptr) return UCS_ERR_NO_MEMORY;
    const ucs_status_t status = send_buffer(original).read(0, staging, length_);
    return status == UCS_OK ? UCS_OK : finish(status);
}

ucs_status_t send_buffer::stage_result() noexcept {
    is_result_ = true;
    return stage() == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
}

}  // namespace ucp::dt
