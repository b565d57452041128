#include "ucp/dt/send_buffer.hpp"

#include <memory>

#include "ucs/log/log.hpp"

namespace ucp::dt {

namespace {

constinit ucs::log::component log_source("ucp.dt");

}  // namespace

ucs_status_t send_buffer::init_other(const void* buffer, std::size_t count,
                                     ucp_datatype_t datatype) noexcept {
    kind_ = kind::contig;
    length_ = 0;
    base_ = nullptr;
    if (is_generic(datatype)) return init_generic(buffer, count, datatype);
    if (is_contig(datatype)) {
        return reject("send", datatype, buffer, count,
                      buffer == nullptr ? "there is no buffer" : "more bytes than memory can hold");
    }
    if (!is_iov(datatype)) {
        return reject("send", datatype, buffer, count, "unknown class of datatype");
    }
    const auto* list = static_cast<const ucp_dt_iov_t*>(buffer);
    const ucs::result<std::size_t> total = iov_length(list, count);
    if (!total.ok()) return total.status();
    length_ = *total;
    if (count == 1) {
        base_ = list[0].buffer;
    } else if (length_ > 0) {
        kind_ = kind::iov;
        std::construct_at(&cursor_, list);
    }
    return UCS_OK;
}

ucs_status_t send_buffer::init_generic(const void* buffer, std::size_t count,
                                       ucp_datatype_t datatype) noexcept {
    const generic* type = generic_of(datatype);
    const ucp_generic_dt_ops_t& ops = type->ops;
    if (ops.start_pack == nullptr || ops.packed_size == nullptr || ops.pack == nullptr) {
        return reject("send", datatype, buffer, count,
                      "the generic datatype has no start_pack, packed_size or pack");
    }
    kind_ = kind::generic;
    generic_ = {type, ops.start_pack(type->context, buffer, count)};
    length_ = ops.packed_size(generic_.state);
    return UCS_OK;
}

std::size_t send_buffer::pack_other(void* into, std::size_t offset, std::size_t capacity) noexcept {
    if (offset >= length_) return 0;
    const std::size_t wanted = std::min(capacity, length_ - offset);
    if (kind_ == kind::iov) {
        cursor_.read(offset, into, wanted);
        return wanted;
    }
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

piece_list send_buffer::pieces(std::size_t offset, std::size_t length,
                               std::span<uct::iov> out) noexcept {
    if (offset >= length_ || out.empty()) return {};
    const std::size_t wanted = std::min(length, length_ - offset);
    if (kind_ == kind::iov) return cursor_.pieces(offset, wanted, out);
    if (wanted == 0) return {};
    out[0] = {static_cast<std::byte*>(base_) + offset, wanted};
    return {.count = 1, .length = wanted};
}

void send_buffer::finish_generic() noexcept {
    const auto used = generic_;
    kind_ = kind::contig;
    length_ = 0;
    base_ = nullptr;
    if (used.type->ops.finish != nullptr) used.type->ops.finish(used.state);
}

}  // namespace ucp::dt
