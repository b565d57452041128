// Source of the data of a send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ucp/dt/buffer.hpp"

namespace ucp::dt {

// Packs data from the program's buffer according to its datatype.
class send_buffer : public buffer {
public:
    // Returns UCS_OK or UCS_ERR_INVALID_PARAM (logged). After an error, finish does nothing.
    ucs_status_t init(const void* memory, std::size_t count, ucp_datatype_t datatype) noexcept {
        if (init_contig(const_cast<void*>(memory), count, datatype)) [[likely]]
            return UCS_OK;
        return start(memory, count, datatype);
    }

    // Packs at most `capacity` bytes from `offset` on; returns the number of bytes. It is smaller
    // only at the end of the data, or if a generic datatype stops early, which is an error of the
    // datatype (logged).
    std::size_t pack(void* into, std::size_t offset, std::size_t capacity) noexcept {
        if (kind_ != kind::contig) [[unlikely]]
            return pack_other(into, offset, capacity);
        if (offset >= length_) return 0;
        const std::size_t length = std::min(capacity, length_ - offset);
        std::memcpy(into, static_cast<const std::byte*>(base_) + offset, length);
        return length;
    }

    // Returns the start of the data if it is contiguous, or nullptr. Also returns nullptr for an
    // empty contiguous send without a buffer.
    [[nodiscard]] const void* contiguous() const noexcept {
        return kind_ == kind::contig ? base_ : nullptr;
    }

private:
    ucs_status_t start(const void* memory, std::size_t count, ucp_datatype_t datatype) noexcept;
    std::size_t pack_other(void* into, std::size_t offset, std::size_t capacity) noexcept;
};

}  // namespace ucp::dt
