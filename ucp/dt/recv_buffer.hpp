// Destination of the data of a receive.
#pragma once

#include <cstddef>
#include <span>

#include "ucp/dt/datatype.hpp"
#include "ucp/dt/iov_cursor.hpp"
#include "ucs/memory/small_copy.hpp"

namespace ucp::dt {

// Unpacks data into the program's buffer according to its datatype. Lives in a request, which calls
// finish when the operation ends for any reason; trivially destructible. Offsets are in packed
// bytes and may come in any order. Owner context.
class recv_buffer {
public:
    recv_buffer() noexcept {}

    // Returns UCS_OK or UCS_ERR_INVALID_PARAM (logged). After an error, finish does nothing.
    ucs_status_t init(void* buffer, std::size_t count, ucp_datatype_t datatype) noexcept {
        if (is_contig(datatype)) [[likely]] {
            kind_ = kind::contig;
            base_ = buffer;
            if (contig_length(datatype, count, capacity_) && (buffer != nullptr || capacity_ == 0))
                [[likely]]
                return UCS_OK;
        }
        return init_other(buffer, count, datatype);
    }

    // Returns the longest message that fits, in packed bytes.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    // Unpacks bytes that belong at `offset`. Returns UCS_ERR_MESSAGE_TRUNCATED if they exceed the
    // capacity (then nothing is stored), or the error of a generic datatype.
    ucs_status_t unpack(const void* from, std::size_t offset, std::size_t length) noexcept {
        if (offset > capacity_ || length > capacity_ - offset) [[unlikely]]
            return UCS_ERR_MESSAGE_TRUNCATED;
        if (kind_ != kind::contig) [[unlikely]]
            return unpack_other(from, offset, length);
        if (length > 0) {
            ucs::memory::copy_bytes(static_cast<std::byte*>(base_) + offset, from, length);
        }
        return UCS_OK;
    }

    // Returns the start of the buffer if it is contiguous, or nullptr. Also returns nullptr for an
    // empty contiguous receive without a buffer.
    [[nodiscard]] void* contiguous() const noexcept {
        return kind_ == kind::contig ? base_ : nullptr;
    }

    // Returns true if pieces() can be used: the data can be received directly into the buffer.
    [[nodiscard]] bool in_memory() const noexcept { return kind_ != kind::generic; }

    // Returns the pieces of memory for up to `length` packed bytes from `offset` on. Requires
    // in_memory().
    piece_list pieces(std::size_t offset, std::size_t length, std::span<uct::iov> out) noexcept;

    // Ends the use of the buffer. Further calls do nothing.
    void finish() noexcept {
        if (kind_ == kind::generic) [[unlikely]]
            finish_generic();
    }

private:
    ucs_status_t init_other(void* buffer, std::size_t count, ucp_datatype_t datatype) noexcept;
    ucs_status_t init_generic(void* buffer, std::size_t count, ucp_datatype_t datatype) noexcept;
    ucs_status_t unpack_other(const void* from, std::size_t offset, std::size_t length) noexcept;
    void finish_generic() noexcept;

    std::size_t capacity_ = 0;
    kind kind_ = kind::contig;
    union {
        void* base_ = nullptr;  // contig
        iov_cursor cursor_;     // iov
        struct {
            const generic* type;
            void* state;
        } generic_;  // generic
    };
};
static_assert(sizeof(recv_buffer) <= 48);

}  // namespace ucp::dt
