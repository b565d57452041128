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
    // datatype (logged), or if a device fails.
    std::size_t pack(void* into, std::size_t offset, std::size_t capacity) noexcept {
        if (kind_ != kind::contig) [[unlikely]]
            return pack_other(into, offset, capacity);
        if (offset >= length_) return 0;
        const std::size_t length = std::min(capacity, length_ - offset);
        std::memcpy(into, static_cast<const std::byte*>(memory_.base) + offset, length);
        return length;
    }

    // Returns the start of the data if it is contiguous, or nullptr. Also returns nullptr for an
    // empty contiguous send without a buffer.
    [[nodiscard]] const void* contiguous() const noexcept {
        return kind_ == kind::contig ? memory_.base : nullptr;
    }

    // Copies the data of a buffer on a device to host memory, which is the buffer from now on.
    // Returns the error of the device, or UCS_ERR_NO_MEMORY.
    ucs_status_t stage_data() noexcept;
    // The operation writes its result to the buffer, which is on a device: from now on the buffer
    // is host memory, which finish() copies to the device.
    ucs_status_t stage_result() noexcept;

private:
    ucs_status_t start(const void* memory, std::size_t count, ucp_datatype_t datatype) noexcept;
    std::size_t pack_other(void* into, std::size_t offset, std::size_t capacity) noexcept;
};

}  // namespace ucp::dt
