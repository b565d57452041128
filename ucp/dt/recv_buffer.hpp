// Destination of the data of a receive.
#pragma once

#include <cstddef>

#include "ucp/dt/buffer.hpp"
#include "ucs/memory/small_copy.hpp"

namespace ucp::dt {

// Unpacks data into the program's buffer according to its datatype. Bytes may come in any order.
class recv_buffer : public buffer {
public:
    // Returns UCS_OK or UCS_ERR_INVALID_PARAM (logged). After an error, finish does nothing.
    ucs_status_t init(void* memory, std::size_t count, ucp_datatype_t datatype) noexcept {
        if (init_contig(memory, count, datatype)) [[likely]]
            return UCS_OK;
        return start(memory, count, datatype);
    }

    // Returns the longest message that fits, in packed bytes.
    [[nodiscard]] std::size_t capacity() const noexcept { return length_; }

    // Unpacks bytes that belong at `offset`. Returns UCS_ERR_MESSAGE_TRUNCATED if they exceed the
    // capacity (then nothing is stored), or the error of a generic datatype. Inlined into the
    // receiving of each message, which a call would make longer by ten instructions.
    [[gnu::always_inline]] ucs_status_t unpack(const void* from, std::size_t offset,
                                               std::size_t length) noexcept {
        if (offset > length_ || length > length_ - offset) [[unlikely]]
            return UCS_ERR_MESSAGE_TRUNCATED;
        if (kind_ != kind::contig) [[unlikely]]
            return unpack_other(from, offset, length);
        if (length > 0) {
            ucs::memory::copy_bytes(static_cast<std::byte*>(memory_.base) + offset, from, length);
        }
        return UCS_OK;
    }

    // Returns the start of the buffer if it is contiguous, or nullptr. Also returns nullptr for an
    // empty contiguous receive without a buffer.
    [[nodiscard]] void* contiguous() const noexcept {
        return kind_ == kind::contig ? memory_.base : nullptr;
    }

private:
    ucs_status_t start(void* memory, std::size_t count, ucp_datatype_t datatype) noexcept;
    ucs_status_t unpack_other(const void* from, std::size_t offset, std::size_t length) noexcept;
};

}  // namespace ucp::dt
