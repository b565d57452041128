// A generic datatype that records its calls.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "ucp/dt/datatype.hpp"

namespace test {

// Packs the bytes of the buffer inverted; count is in bytes. Must outlive the operations.
class recording_type {
public:
    recording_type() { datatype_ = *ucp::dt::create_generic(callbacks(), this); }
    ~recording_type() { ucp::dt::destroy(datatype_); }
    recording_type(const recording_type&) = delete;
    recording_type& operator=(const recording_type&) = delete;

    [[nodiscard]] ucp_datatype_t datatype() const noexcept { return datatype_; }

    static ucp_generic_dt_ops_t callbacks() {
        ucp_generic_dt_ops_t ops{};
        ops.start_pack = [](void* context, const void* buffer, std::size_t count) -> void* {
            return start(context, const_cast<void*>(buffer), count);
        };
        ops.start_unpack = [](void* context, void* buffer, std::size_t count) -> void* {
            return start(context, buffer, count);
        };
        ops.packed_size = [](void* state) { return static_cast<recording_type*>(state)->size_; };
        ops.pack = [](void* state, std::size_t offset, void* into, std::size_t capacity) {
            return static_cast<recording_type*>(state)->pack(offset, into, capacity);
        };
        ops.unpack = [](void* state, std::size_t offset, const void* from, std::size_t length) {
            return static_cast<recording_type*>(state)->unpack(offset, from, length);
        };
        ops.finish = [](void* state) { ++static_cast<recording_type*>(state)->finishes; };
        return ops;
    }

    struct call {
        std::size_t offset;
        std::size_t length;
        bool operator==(const call&) const = default;
    };

    int starts = 0;
    int finishes = 0;
    std::vector<call> calls;                     // calls of pack and unpack
    std::size_t longest_pack = ~std::size_t{0};  // largest result of one pack call
    std::size_t element = 1;                     // pack returns multiples of this size
    ucs_status_t unpack_status = UCS_OK;

private:
    static void* start(void* context, void* buffer, std::size_t count) {
        auto* self = static_cast<recording_type*>(context);
        ++self->starts;
        self->buffer_ = static_cast<std::byte*>(buffer);
        self->size_ = count;
        return self;
    }
    static void invert(std::byte* into, const std::byte* from, std::size_t length) {
        std::transform(from, from + length, into, [](std::byte b) { return ~b; });
    }
    std::size_t pack(std::size_t offset, void* into, std::size_t capacity) {
        const std::size_t fits = std::min({capacity, longest_pack, size_ - offset});
        const std::size_t length = fits / element * element;
        calls.push_back({offset, length});
        invert(static_cast<std::byte*>(into), buffer_ + offset, length);
        return length;
    }
    ucs_status_t unpack(std::size_t offset, const void* from, std::size_t length) {
        calls.push_back({offset, length});
        if (unpack_status == UCS_OK)
            invert(buffer_ + offset, static_cast<const std::byte*>(from), length);
        return unpack_status;
    }

    ucp_datatype_t datatype_ = 0;
    std::byte* buffer_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace test
