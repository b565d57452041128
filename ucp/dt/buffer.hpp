// Memory of a program that a datatype describes.
#pragma once

#include <cstddef>
#include <span>

#include "ucp/dt/datatype.hpp"
#include "ucp/dt/iov_cursor.hpp"

namespace ucp::dt {

// Base of send_buffer and recv_buffer. Lives in a request, which calls finish when the operation
// ends for any reason; trivially destructible. Offsets are in packed bytes. Owner context.
class buffer {
public:
    // Returns the length of the data in packed bytes.
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

    // Returns true if pieces() can be used: the data can be moved directly from or to the buffer.
    [[nodiscard]] bool in_memory() const noexcept { return kind_ != kind::generic; }

    // Returns the pieces of memory for up to `length` packed bytes from `offset` on. Requires
    // in_memory().
    piece_list pieces(std::size_t offset, std::size_t length, std::span<uct::iov> out) noexcept;

    // Ends the use of the buffer. Further calls do nothing.
    void finish() noexcept {
        if (kind_ == kind::generic) [[unlikely]]
            finish_generic();
    }

protected:
    buffer() noexcept {}

    // Returns true if the buffer is contiguous and valid.
    bool init_contig(void* memory, std::size_t count, ucp_datatype_t datatype) noexcept {
        if (!is_contig(datatype)) [[unlikely]]
            return false;
        kind_ = kind::contig;
        base_ = memory;
        return contig_length(datatype, count, length_) && (memory != nullptr || length_ == 0);
    }
    // Initializes all other buffers but generic ones, and logs `call` if the buffer is invalid.
    ucs_status_t init_other(const char* call, const void* memory, std::size_t count,
                            ucp_datatype_t datatype) noexcept;
    // Initializes a generic buffer, whose operation was started with this state.
    void init_generic(const generic* type, void* state) noexcept {
        kind_ = kind::generic;
        generic_ = {type, state};
        length_ = type->ops.packed_size(state);
    }
    void clear() noexcept {
        kind_ = kind::contig;
        length_ = 0;
        base_ = nullptr;
    }

    std::size_t length_ = 0;
    kind kind_ = kind::contig;
    union {
        void* base_ = nullptr;  // contig
        iov_cursor cursor_;     // iov
        struct {
            const generic* type;
            void* state;
        } generic_;  // generic
    };

private:
    void finish_generic() noexcept;
};
static_assert(sizeof(buffer) <= 48);

}  // namespace ucp::dt
