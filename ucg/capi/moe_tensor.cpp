#include "ucg/capi/moe_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "ucg/moe/log.hpp"

namespace ucg::capi {
namespace {

using strides = std::array<std::int64_t, UCG_MOE_MAX_DIMS>;

std::int64_t size_of(const ucg_moe_tensor_t& what) noexcept {
    return static_cast<std::int64_t>(reduce::size_of(static_cast<reduce::element>(what.type)));
}

bool is_empty(const ucg_moe_tensor_t& what) noexcept {
    return std::any_of(what.dims, what.dims + what.ndims, [](std::uint64_t d) { return d == 0; });
}

// As given, or those of a dense tensor. Whether addresses can have them.
bool find_strides(const ucg_moe_tensor_t& what, strides& found) noexcept {
    std::copy_n(what.strides, UCG_MOE_MAX_DIMS, found.begin());
    if (std::any_of(what.strides, what.strides + what.ndims,
                    [](std::int64_t stride) { return stride != 0; }))
        return true;
    std::int64_t next = size_of(what);
    for (std::uint32_t d = what.ndims; d-- != 0;) {
        found[d] = next;
        if (__builtin_mul_overflow(next, std::max<std::uint64_t>(what.dims[d], 1), &next))
            return false;
    }
    return true;
}

// Whether all elements lie where an address can point to.
bool fits(const ucg_moe_tensor_t& what, const strides& by) noexcept {
    if (is_empty(what)) return true;
    std::int64_t below = 0;
    std::int64_t above = size_of(what);
    for (std::uint32_t d = 0; d < what.ndims; ++d) {
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(what.dims[d] - 1, by[d], &reach)) return false;
        std::int64_t& end = reach < 0 ? below : above;
        if (__builtin_add_overflow(end, reach, &end)) return false;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(what.data);
    std::uintptr_t ignored = 0;
    return !__builtin_add_overflow(begin, below, &ignored) &&
           !__builtin_add_overflow(begin, above, &ignored);
}

moe::matrix plane(const ucg_moe_tensor_t& what, const strides& by) noexcept {
    const std::uint32_t rows = what.ndims - 2;
    return {static_cast<std::byte*>(what.data),
            what.dims[rows],
            static_cast<std::uint32_t>(what.dims[rows + 1]),
            static_cast<reduce::element>(what.type),
            by[rows],
            by[rows + 1]};
}

}  // namespace

void tensor_reader::refuse(const char* which, const char* why, ucs_status_t status) noexcept {
    ucs::log::error(moe::moe_log, "{}: {} {}", call_, which, why);
    status_ = status;
}

bool tensor_reader::is_there(const char* which, const ucg_moe_tensor_t& what,
                             std::uint32_t ndims) noexcept {
    if (status_ != UCS_OK) return false;
    if (what.struct_size != sizeof what) {
        refuse(which, "was not initialised by UCG_MOE_TENSOR_INIT");
        return false;
    }
    if (what.type == UCG_TYPE_LAST) return false;
    strides by{};
    if (what.type < 0 || what.type >= UCG_TYPE_OPAQUE)
        refuse(which, "has a type that is none: give one of those of ucg_type_t that have a size");
    else if (what.memory != UCS_MEMORY_TYPE_HOST)
        refuse(which, "is not in memory of the host: only that is served", UCS_ERR_UNSUPPORTED);
    else if (what.ndims != ndims)
        refuse(which, ndims == 2 ? "has not 2 dimensions" : "has not 3 dimensions");
    else if (what.dims[ndims - 1] == 0 || what.dims[ndims - 1] > UINT32_MAX)
        refuse(which, "has rows without elements, or more of them than 2^32 - 1");
    else if (what.data == nullptr && !is_empty(what))
        refuse(which, "has rows but no data");
    else if (!find_strides(what, by) || !fits(what, by))
        refuse(which, "has dimensions and strides that reach over the end of memory");
    return status_ == UCS_OK;
}

moe::matrix tensor_reader::matrix(const char* which, const ucg_moe_tensor_t& what) noexcept {
    if (!is_there(which, what, 2)) return {};
    strides by{};
    static_cast<void>(find_strides(what, by));
    return plane(what, by);
}

moe::stack tensor_reader::stack(const char* which, const ucg_moe_tensor_t& what,
                                std::uint32_t count) noexcept {
    if (!is_there(which, what, 3)) return {};
    if (what.dims[0] != count) {
        ucs::log::error(moe::moe_log,
                        "{}: {} is for {} experts: give one for each of the {} of this rank", call_,
                        which, what.dims[0], count);
        status_ = UCS_ERR_INVALID_PARAM;
        return {};
    }
    strides by{};
    static_cast<void>(find_strides(what, by));
    return {plane(what, by), by[0]};
}

}  // namespace ucg::capi
