#include "ucp/dt/recv_buffer.hpp"

#include <algorithm>
#include <memory>

namespace ucp::dt {

ucs_status_t recv_buffer::init_other(void* buffer, std::size_t count,
                                     ucp_datatype_t datatype) noexcept {
    kind_ = kind::contig;
    capacity_ = 0;
    base_ = nullptr;
    if (is_generic(datatype)) return init_generic(buffer, count, datatype);
    if (is_contig(datatype)) {
        return reject("receive", datatype, buffer, count,
                      buffer == nullptr ? "there is no buffer" : "more bytes than memory can hold");
    }
    if (!is_iov(datatype)) {
        return reject("receive", datatype, buffer, count, "unknown class of datatype");
    }
    const auto* list = static_cast<const ucp_dt_iov_t*>(buffer);
    const ucs::result<std::size_t> total = iov_length(list, count);
    if (!total.ok()) return total.status();
    capacity_ = *total;
    if (count == 1) {
        base_ = list[0].buffer;
    } else if (capacity_ > 0) {
        kind_ = kind::iov;
        std::construct_at(&cursor_, list);
    }
    return UCS_OK;
}

ucs_status_t recv_buffer::init_generic(void* buffer, std::size_t count,
                                       ucp_datatype_t datatype) noexcept {
    const generic* type = generic_of(datatype);
    const ucp_generic_dt_ops_t& ops = type->ops;
    if (ops.start_unpack == nullptr || ops.packed_size == nullptr || ops.unpack == nullptr) {
        return reject("receive", datatype, buffer, count,
                      "the generic datatype has no start_unpack, packed_size or unpack");
    }
    kind_ = kind::generic;
    generic_ = {type, ops.start_unpack(type->context, buffer, count)};
    capacity_ = ops.packed_size(generic_.state);
    return UCS_OK;
}

ucs_status_t recv_buffer::unpack_other(const void* from, std::size_t offset,
                                       std::size_t length) noexcept {
    if (length == 0) return UCS_OK;
    if (kind_ == kind::generic) {
        return generic_.type->ops.unpack(generic_.state, offset, from, length);
    }
    cursor_.write(offset, from, length);
    return UCS_OK;
}

piece_list recv_buffer::pieces(std::size_t offset, std::size_t length,
                               std::span<uct::iov> out) noexcept {
    if (offset >= capacity_ || out.empty()) return {};
    const std::size_t wanted = std::min(length, capacity_ - offset);
    if (kind_ == kind::iov) return cursor_.pieces(offset, wanted, out);
    if (wanted == 0) return {};
    out[0] = {static_cast<std::byte*>(base_) + offset, wanted};
    return {.count = 1, .length = wanted};
}

void recv_buffer::finish_generic() noexcept {
    const auto used = generic_;
    kind_ = kind::contig;
    capacity_ = 0;
    base_ = nullptr;
    if (used.type->ops.finish != nullptr) used.type->ops.finish(used.state);
}

}  // namespace ucp::dt
