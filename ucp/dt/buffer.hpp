// Memory of a program that a datatype describes.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ucp/dt/datatype.hpp"
#include "ucp/dt/device_pipeline.hpp"
#include "ucp/dt/iov_cursor.hpp"
#include "ucs/memory/device_memory.hpp"

namespace ucp::dt {

// Base of send_buffer and recv_buffer. Lives in a request, which calls finish when the operation
// ends for any reason; trivially destructible. Offsets are in packed bytes. Owner context.
class buffer {
public:
    // Returns the length of the data in packed bytes.
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

    // Returns true if the data lies in host memory as pieces(): it can be moved directly from or to
    // the buffer.
    [[nodiscard]] bool in_memory() const noexcept {
        return kind_ == kind::contig || kind_ == kind::iov;
    }
    // Returns true if some of the data lies in memory of a device.
    [[nodiscard]] bool on_device() const noexcept {
        return kind_ == kind::device || kind_ == kind::device_iov;
    }
    // Returns the start of the data if it is one piece of memory of a device, or nullptr.
    [[nodiscard]] void* device_contiguous() const noexcept {
        return kind_ == kind::device ? memory_.base : nullptr;
    }

    // Returns the pieces of memory for up to `length` packed bytes from `offset` on. Requires
    // in_memory() or on_device().
    piece_list pieces(std::size_t offset, std::size_t length, std::span<uct::iov> out) noexcept;

    // Gives the buffer, which is on a device, an object that moves its data. The buffer must not
    // have one.
    void attach(device_pipeline* given) noexcept {
        needs_finish_ = true;
        memory_.pipeline = given;
    }
    // Destroys the object, if there is one. No copy may be under way.
    void detach() noexcept {
        if (on_device()) delete std::exchange(memory_.pipeline, nullptr);
    }
    // Returns nullptr if there is none.
    [[nodiscard]] device_pipeline* pipeline() const noexcept {
        return on_device() ? memory_.pipeline : nullptr;
    }

    // Copies a range of a buffer that is not generic, and returns when the data is there. Returns
    // UCS_OK or the error of a device, which is logged.
    ucs_status_t read(std::size_t offset, void* into, std::size_t length) noexcept;
    ucs_status_t write(std::size_t offset, const void* from, std::size_t length) noexcept;

    // Returns true if finish() has something to do.
    [[nodiscard]] bool needs_finish() const noexcept { return needs_finish_; }
    // Ends the use of the buffer after an operation with this outcome. Returns the outcome, or the
    // error of a device that did not take the result. Further calls do nothing.
    ucs_status_t finish(ucs_status_t outcome = UCS_OK) noexcept {
        if (needs_finish_) [[unlikely]]
            return finish_other(outcome);
        return outcome;
    }

protected:
    buffer() noexcept {}

    // Returns true if the buffer is contiguous, in host memory, and valid.
    bool init_contig(void* memory, std::size_t count, ucp_datatype_t datatype) noexcept {
        if (!is_contig(datatype)) [[unlikely]]
            return false;
        kind_ = kind::contig;
        memory_.base = memory;
        return contig_length(datatype, count, length_) && (memory != nullptr || length_ == 0) &&
               ucs::memory::is_host(memory);
    }
    // Initializes all other buffers but generic ones, and logs `call` if the buffer is invalid.
    ucs_status_t init_other(const char* call, const void* memory, std::size_t count,
                            ucp_datatype_t datatype) noexcept;
    // Initializes a generic buffer, whose operation was started with this state.
    void init_generic(const generic* type, void* state) noexcept {
        kind_ = kind::generic;
        needs_finish_ = true;
        generic_ = {type, state};
        length_ = type->ops.packed_size(state);
    }
    void clear() noexcept {
        kind_ = kind::contig;
        needs_finish_ = false;
        length_ = 0;
        memory_.base = nullptr;
    }
    // Replaces a buffer with memory of a device by one in host memory. Returns nullptr if there is
    // no memory, which is logged.
    std::byte* stage() noexcept;

    std::size_t length_ = 0;
    kind kind_ = kind::contig;
    bool needs_finish_ = false;
    bool is_result_ = false;        // staged: the data is copied to the original at the end
    bool original_is_iov_ = false;  // staged: the original is an array of ucp_dt_iov_t
    union {
        struct {
            void* base = nullptr;  // device_iov: the array of pieces
            union {
                void* original;             // contig, only if staged: the program's buffer
                device_pipeline* pipeline;  // device and device_iov; may be nullptr
            };
        } memory_;           // contig, device and device_iov
        iov_cursor cursor_;  // iov
        struct {
            const generic* type;
            void* state;
        } generic_;  // generic
    };

private:
    ucs_status_t init_device(const char* call, const void* memory, std::size_t count,
                             ucp_datatype_t datatype) noexcept;
    void set_device(kind form, void* base) noexcept;
    [[nodiscard]] iov_cursor device_pieces() const noexcept {
        return iov_cursor(static_cast<const ucp_dt_iov_t*>(memory_.base));
    }
    ucs_status_t init_iov(const char* call, const ucp_dt_iov_t* list, std::size_t count) noexcept;
    ucs_status_t finish_other(ucs_status_t outcome) noexcept;
    ucs_status_t finish_staged(ucs_status_t outcome) noexcept;
};
static_assert(sizeof(buffer) <= 48);

}  // namespace ucp::dt
