#include "ucp/dt/buffer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "ucp/mem/staging.hpp"
#include "ucs/memory/copy_any.hpp"

namespace ucp::dt {

namespace {

constexpr const char* not_memory =
    "the address is neither memory of the host nor of a device; was it freed?";

// Returns false for an address that the driver of no device knows, such as freed memory.
bool is_device(const void* address) noexcept {
    return ucs::memory::find_device_memory(address).has_value();
}

}  // namespace

ucs_status_t buffer::init_other(const char* call, const void* memory, std::size_t count,
                                ucp_datatype_t datatype) noexcept {
    clear();
    if (is_contig(datatype)) return init_device(call, memory, count, datatype);
    if (!is_iov(datatype))
        return reject(call, datatype, memory, count, "unknown class of datatype");
    return init_iov(call, static_cast<const ucp_dt_iov_t*>(memory), count);
}

ucs_status_t buffer::init_device(const char* call, const void* memory, std::size_t count,
                                 ucp_datatype_t datatype) noexcept {
    std::size_t length = 0;
    if (memory == nullptr) return reject(call, datatype, memory, count, "there is no buffer");
    if (!contig_length(datatype, count, length))
        return reject(call, datatype, memory, count, "more bytes than memory can hold");
    if (length == 0) return UCS_OK;
    if (!is_device(memory)) return reject(call, datatype, memory, count, not_memory);
    set_device(kind::device, const_cast<void*>(memory));
    length_ = length;
    return UCS_OK;
}

ucs_status_t buffer::init_iov(const char* call, const ucp_dt_iov_t* list,
                              std::size_t count) noexcept {
    const ucs::result<std::size_t> total = iov_length(list, count);
    if (!total.ok()) return total.status();
    bool on_device = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (list[i].length == 0 || ucs::memory::is_host(list[i].buffer)) continue;
        if (!is_device(list[i].buffer))
            return reject(call, UCP_DATATYPE_IOV, list[i].buffer, count, not_memory);
        on_device = true;
    }
    length_ = *total;
    if (on_device) {
        set_device(count == 1 ? kind::device : kind::device_iov,
                   count == 1 ? list[0].buffer : const_cast<ucp_dt_iov_t*>(list));
    } else if (count == 1) {
        memory_.base = list[0].buffer;
    } else if (length_ > 0) {
        kind_ = kind::iov;
        std::construct_at(&cursor_, list);
    }
    return UCS_OK;
}

void buffer::set_device(kind form, void* base) noexcept {
    kind_ = form;
    memory_.base = base;
    memory_.pipeline = nullptr;
}

piece_list buffer::pieces(std::size_t offset, std::size_t length,
                          std::span<uct::iov> out) noexcept {
    if (offset >= length_ || out.empty()) return {};
    const std::size_t wanted = std::min(length, length_ - offset);
    if (kind_ == kind::iov) return cursor_.pieces(offset, wanted, out);
    if (kind_ == kind::device_iov) return device_pieces().pieces(offset, wanted, out);
    if (wanted == 0) return {};
    out[0] = {static_cast<std::byte*>(memory_.base) + offset, wanted};
    return {.count = 1, .length = wanted};
}

ucs_status_t buffer::read(std::size_t offset, void* into, std::size_t length) noexcept {
    if (kind_ == kind::iov) return cursor_.read(offset, into, length);
    if (kind_ == kind::device_iov) return device_pieces().read(offset, into, length);
    return ucs::memory::copy_any(into, static_cast<const std::byte*>(memory_.base) + offset,
                                 length);
}

ucs_status_t buffer::write(std::size_t offset, const void* from, std::size_t length) noexcept {
    if (kind_ == kind::iov) return cursor_.write(offset, from, length);
    if (kind_ == kind::device_iov) return device_pieces().write(offset, from, length);
    return ucs::memory::copy_any(static_cast<std::byte*>(memory_.base) + offset, from, length);
}

std::byte* buffer::stage() noexcept {
    std::byte* const memory = mem::allocate_staging(length_);
    if (memory == nullptr) return nullptr;
    original_is_iov_ = kind_ == kind::device_iov;
    void* const original = memory_.base;
    kind_ = kind::contig;
    memory_.base = memory;
    memory_.original = original;
    needs_finish_ = true;
    return memory;
}

ucs_status_t buffer::finish_other(ucs_status_t outcome) noexcept {
    needs_finish_ = false;
    if (on_device()) {
        detach();
        return outcome;
    }
    if (kind_ != kind::generic) return finish_staged(outcome);
    const auto used = generic_;
    clear();
    if (used.type->ops.finish != nullptr) used.type->ops.finish(used.state);
    return outcome;
}

ucs_status_t buffer::finish_staged(ucs_status_t outcome) noexcept {
    auto* const staging = static_cast<std::byte*>(memory_.base);
    if (is_result_ && outcome == UCS_OK) {
        outcome = original_is_iov_ ? iov_cursor(static_cast<ucp_dt_iov_t*>(memory_.original))
                                         .write(0, staging, length_)
                                   : ucs::memory::copy_any(memory_.original, staging, length_);
    }
    mem::free_staging(staging, length_);
    clear();
    return outcome;
}

}  // namespace ucp::dt
