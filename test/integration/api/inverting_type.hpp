// A generic datatype, which callbacks of the program pack and unpack.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>

#include "test/integration/api/world.hpp"

namespace api {

// Elements of `Width` bytes at a stride of `Stride` bytes. Packing removes the gaps and inverts
// every bit.
template<std::size_t Width, std::size_t Stride = Width>
class inverting_type {
public:
    static constexpr std::size_t width = Width;
    static constexpr std::size_t stride = Stride;

    std::size_t pack_limit = ~std::size_t{0};  // most bytes of one pack call
    std::size_t fails_from = ~std::size_t{0};  // unpack fails beyond this packed offset
    int opened = 0;
    int finished = 0;
    ucp_datatype_t type = 0;

    inverting_type() {
        ucp_generic_dt_ops_t ops{};
        ops.start_pack = [](void* self, const void* buffer, std::size_t count) {
            return start(self, const_cast<void*>(buffer), count);
        };
        ops.start_unpack = start;
        ops.packed_size = [](void* state) { return operation_of(state).count * width; };
        ops.pack = [](void* state, std::size_t offset, void* into, std::size_t limit) {
            const std::size_t length = std::min({limit, operation_of(state).datatype->pack_limit,
                                                 operation_of(state).count * width - offset});
            for (std::size_t i = 0; i < length; ++i)
                static_cast<std::byte*>(into)[i] = ~operation_of(state).byte_at(offset + i);
            return length;
        };
        ops.unpack = [](void* state, std::size_t offset, const void* from, std::size_t length) {
            if (offset + length > operation_of(state).datatype->fails_from) return UCS_ERR_IO_ERROR;
            if (offset + length > operation_of(state).count * width) return UCS_ERR_OUT_OF_RANGE;
            for (std::size_t i = 0; i < length; ++i)
                operation_of(state).byte_at(offset + i) = ~static_cast<const std::byte*>(from)[i];
            return UCS_OK;
        };
        ops.finish = [](void* state) {
            ++operation_of(state).datatype->finished;
            delete &operation_of(state);
        };
        REQUIRE(ucp_dt_create_generic(&ops, this, &type) == UCS_OK);
    }
    ~inverting_type() { ucp_dt_destroy(type); }
    inverting_type(const inverting_type&) = delete;
    inverting_type& operator=(const inverting_type&) = delete;

    // Memory for `count` elements, filled with one byte.
    static std::vector<std::byte> memory(std::size_t count, std::byte all) {
        return std::vector<std::byte>(count * stride, all);
    }
    // Memory whose elements pack to these bytes. All other bytes, also the rest of an incomplete
    // last element, are `between`.
    static std::vector<std::byte> holding(const std::vector<std::byte>& packed, std::byte between) {
        auto made = memory((packed.size() + width - 1) / width, between);
        for (std::size_t i = 0; i < packed.size(); ++i)
            made[offset_of(i)] = ~packed[i];
        return made;
    }

private:
    struct operation {
        inverting_type* datatype;
        std::byte* base;
        std::size_t count;
        std::byte& byte_at(std::size_t packed) const { return base[offset_of(packed)]; }
    };
    static std::size_t offset_of(std::size_t packed) {
        return packed / width * stride + packed % width;
    }
    static operation& operation_of(void* state) { return *static_cast<operation*>(state); }
    static void* start(void* self, void* buffer, std::size_t count) {
        ++static_cast<inverting_type*>(self)->opened;
        return new operation{static_cast<inverting_type*>(self), static_cast<std::byte*>(buffer),
                             count};
    }
};

}  // namespace api
