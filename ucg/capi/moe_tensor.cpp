#include "ucg/capi/moe_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "ucg/schedule/log.hpp"

namespace ucg::capi {
namespace {

using strides = std::array<std::int64_t, UCG_MOE_MAX_DIMS>;

std::int64_t size_of(const ucg_moe_tensor_t& tensor) noexcept {
    return static_cast<std::int64_t>(reduce::size_of(static_cast<reduce::element>(tensor.type)));
}

bool is_empty(const ucg_moe_tensor_t& tensor) noexcept {
    return std::any_of(tensor.dims, tensor.dims + tensor.ndims,
                       [](std::uint64_t d) { return d == 0; });
}

// Gets the strides of a tensor, or those of a dense tensor. Returns false if they overflow.
bool find_strides(const ucg_moe_tensor_t& tensor, strides& found) noexcept {
    std::copy_n(tensor.strides, UCG_MOE_MAX_DIMS, found.begin());
    if (std::any_of(tensor.strides, tensor.strides + tensor.ndims,
                    [](std::int64_t stride) { return stride != 0; }))
        return true;
    std::int64_t next = size_of(tensor);
    for (std::uint32_t d = tensor.ndims; d-- != 0;) {
        found[d] = next;
        if (__builtin_mul_overflow(next, std::max<std::uint64_t>(tensor.dims[d], 1), &next))
            return false;
    }
    return true;
}

// True if all elements are in the address space.
bool fits(const ucg_moe_tensor_t& tensor, const strides& steps) noexcept {
    if (is_empty(tensor)) return true;
    std::int64_t below = 0;
    std::int64_t above = size_of(tensor);
    for (std::uint32_t d = 0; d < tensor.ndims; ++d) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(tensor.dims[d] - 1, steps[d], &reach)) return false;
        std::int64_t& end = reach < 0 ? below : above;
        if (__builtin_add_overflow(end, reach, &end)) return false;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data);
    std::uintptr_t ignored = 0;
    return !__builtin_add_overflow(begin, below, &ignored) &&
           !__builtin_add_overflow(begin, above, &ignored);
}

moe::matrix plane(const ucg_moe_tensor_t& tensor, const strides& steps) noexcept {
    const std::uint32_t rows = tensor.ndims - 2;
    return {static_cast<std::byte*>(tensor.data),
            tensor.dims[rows],
            static_cast<std::uint32_t>(tensor.dims[rows + 1]),
            static_cast<reduce::element>(tensor.type),
            steps[rows],
            steps[rows + 1]};
}

}  // namespace

void tensor_reader::refuse(const char* name, const char* reason, ucs_status_t status) noexcept {
    ucs::log::error(moe::moe_log, "{}: {} {}", call_, name, reason);
    status_ = status;
}

bool tensor_reader::is_valid(const char* name, const ucg_moe_tensor_t& tensor,
                             std::uint32_t ndims) noexcept {
    if (status_ != UCS_OK) return false;
    if (tensor.struct_size != sizeof tensor) {
        refuse(name, "was not initialised by UCG_MOE_TENSOR_INIT");
        return false;
    }
    if (tensor.type == UCG_TYPE_LAST) return false;
    strides steps{};
    if (tensor.type < 0 || tensor.type >= UCG_TYPE_OPAQUE)
        refuse(name, "has a type that is none: give one of those of ucg_type_t that have a size");
    else if (tensor.memory != UCS_MEMORY_TYPE_HOST)
        refuse(name, "is not in memory of the host: only that is served", UCS_ERR_UNSUPPORTED);
    else if (tensor.ndims != ndims)
        refuse(name, ndims == 2 ? "has not 2 dimensions" : "has not 3 dimensions");
    else if (tensor.dims[ndims - 1] == 0 || tensor.dims[ndims - 1] > UINT32_MAX)
        refuse(name, "has rows without elements, or more of them than 2^32 - 1");
    else if (tensor.data == nullptr && !is_empty(tensor))
        refuse(name, "has rows but no data");
    else if (!find_strides(tensor, steps) || !fits(tensor, steps))
        refuse(name, "has dimensions and strides that reach over the end of memory");
    return status_ == UCS_OK;
}

moe::matrix tensor_reader::matrix(const char* name, const ucg_moe_tensor_t& tensor) noexcept {
    if (!is_valid(name, tensor, 2)) return {};
    strides steps{};
    static_cast<void>(find_strides(tensor, steps));
    return plane(tensor, steps);
}

moe::stack tensor_reader::stack(const char* name, const ucg_moe_tensor_t& tensor,
                                std::uint32_t count) noexcept {
    if (!is_valid(name, tensor, 3)) return {};
    if (tensor.dims[0] != count) {
        ucs::log::error(moe::moe_log,
                        "{}: {} is for {} experts: give one for each of the {} of this rank", call_,
                        name, tensor.dims[0], count);
        status_ = UCS_ERR_INVALID_PARAM;
        return {};
    }
    strides steps{};
    static_cast<void>(find_strides(tensor, steps));
    return {plane(tensor, steps), steps[0]};
}

}  // namespace ucg::capi
