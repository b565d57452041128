#include "ucp/dt/buffer.hpp"

#include <algorithm>
#include <memory>

namespace ucp::dt {

ucs_status_t buffer::init_other(const char* call, const void* memory, std::size_t count,
                                ucp_datatype_t datatype) noexcept {
    clear();
    if (is_contig(datatype)) {
        return reject(call, datatype, memory, count,
                      memory == nullptr ? "there is no buffer" : "more bytes than memory can hold");
    }
    if (!is_iov(datatype))
        return reject(call, datatype, memory, count, "unknown class of datatype");
    const auto* list = static_cast<const ucp_dt_iov_t*>(memory);
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

piece_list buffer::pieces(std::size_t offset, std::size_t length,
                          std::span<uct::iov> out) noexcept {
    if (offset >= length_ || out.empty()) return {};
    const std::size_t wanted = std::min(length, length_ - offset);
    if (kind_ == kind::iov) return cursor_.pieces(offset, wanted, out);
    if (wanted == 0) return {};
    out[0] = {static_cast<std::byte*>(base_) + offset, wanted};
    return {.count = 1, .length = wanted};
}

void buffer::finish_generic() noexcept {
    const auto used = generic_;
    clear();
    if (used.type->ops.finish != nullptr) used.type->ops.finish(used.state);
}

}  // namespace ucp::dt
