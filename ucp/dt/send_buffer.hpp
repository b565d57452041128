// Source of the data of a send.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "ucp/dt/datatype.hpp"
#include "ucp/dt/iov_cursor.hpp"

namespace ucp::dt {

// Packs data from the program's buffer according to its datatype. Lives in a request, which calls
// finish when the operation ends for any reason; trivially destructible. Offsets are in packed
// bytes. Owner context.
class send_buffer {
public:
    send_buffer() noexcept {}

    // Returns UCS_OK or UCS_ERR_INVALID_PARAM (logged). After an error, finish does nothing.
    ucs_status_t init(const void* buffer, std::size_t count, ucp_datatype_t datatype) noexcept {
        if (is_contig(datatype)) [[likely]] {
            kind_ = kind::contig;
            base_ = const_cast<void*>(buffer);
            if (contig_length(datatype, count, length_) && (buffer != nullptr || length_ == 0))
                [[likely]]
                return UCS_OK;
        }
        return init_other(buffer, count, datatype);
    }

    [[nodiscard]] std::size_t length() const noexcept { return length_; }

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

    // Returns true if pieces() can be used: the data can be sent directly from the buffer.
    [[nodiscard]] bool in_memory() const noexcept { return kind_ != kind::generic; }

    // Returns the pieces of memory that hold up to `length` packed bytes from `offset` on. Requires
    // in_memory().
    piece_list pieces(std::size_t offset, std::size_t length, std::span<uct::iov> out) noexcept;

    // Ends the use of the buffer. Further calls do nothing.
    void finish() noexcept {
        if (kind_ == kind::generic) [[unlikely]]
            finish_generic();
    }

private:
    ucs_status_t init_other(const void* buffer, std::size_t count,
                            ucp_datatype_t datatype) noexcept;
    ucs_status_t init_generic(const void* buffer, std::size_t count,
                              ucp_datatype_t datatype) noexcept;
    std::size_t pack_other(void* into, std::size_t offset, std::size_t capacity) noexcept;
    void finish_generic() noexcept;

    std::size_t length_ = 0;
    union {
        void* base_ = nullptr;  // contig
        iov_cursor cursor_;     // iov
        struct {
            const generic* type;
            void* state;
        } generic_;  // generic
    };
    kind kind_ = kind::contig;
};
static_assert(sizeof(send_buffer) <= 48);

}  // namespace ucp::dt
