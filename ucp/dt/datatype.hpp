// Interpretation of a ucp_datatype_t.
#pragma once

#include <ucp/api/ucp_dt.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "ucs/type/result.hpp"

namespace ucp::dt {

// Forms of a buffer. The first three are the classes of datatypes that operations accept; every
// other value of the class bits is invalid.
enum class kind : std::uint8_t {
    contig = UCP_DATATYPE_CONTIG,
    iov = UCP_DATATYPE_IOV,
    generic = UCP_DATATYPE_GENERIC,
    device,      // one piece of memory of a device, which the processor cannot access
    device_iov,  // pieces, at least one of them in memory of a device
};

// A datatype made by ucp_dt_create_generic. Immutable, any thread; owned by the program through
// the ucp_datatype_t, which is this object's address with the class bits set.
struct alignas(UCP_DATATYPE_CLASS_MASK + 1) generic {
    ucp_generic_dt_ops_t ops;
    void* context;
};

[[nodiscard]] constexpr unsigned class_bits(ucp_datatype_t datatype) noexcept {
    return static_cast<unsigned>(datatype & UCP_DATATYPE_CLASS_MASK);
}
[[nodiscard]] constexpr bool is_contig(ucp_datatype_t datatype) noexcept {
    return class_bits(datatype) == UCP_DATATYPE_CONTIG;
}
[[nodiscard]] constexpr bool is_iov(ucp_datatype_t datatype) noexcept {
    return datatype == UCP_DATATYPE_IOV;
}
[[nodiscard]] constexpr bool is_generic(ucp_datatype_t datatype) noexcept {
    return class_bits(datatype) == UCP_DATATYPE_GENERIC && datatype != UCP_DATATYPE_GENERIC;
}
[[nodiscard]] constexpr bool is_valid(ucp_datatype_t datatype) noexcept {
    return is_contig(datatype) || is_iov(datatype) || is_generic(datatype);
}

// Bytes of one element of a contiguous datatype.
[[nodiscard]] constexpr std::size_t element_size(ucp_datatype_t datatype) noexcept {
    return static_cast<std::size_t>(datatype >> UCP_DATATYPE_SHIFT);
}

// Computes the length of `count` elements of a contiguous datatype. Returns false if it overflows.
[[nodiscard]] inline bool contig_length(ucp_datatype_t datatype, std::size_t count,
                                        std::size_t& length) noexcept {
    return !__builtin_mul_overflow(element_size(datatype), count, &length);
}

// Returns the sum of the pieces, or UCS_ERR_INVALID_PARAM (logged) if there is no array, a piece
// has no memory, or the sum overflows.
[[nodiscard]] ucs::result<std::size_t> iov_length(const ucp_dt_iov_t* pieces, std::size_t count);

// Returns the object of a generic datatype.
[[nodiscard]] inline const generic* generic_of(ucp_datatype_t datatype) noexcept {
    const auto address = static_cast<std::uintptr_t>(datatype - UCP_DATATYPE_GENERIC);
    return reinterpret_cast<const generic*>(address);
}

// Implements ucp_dt_create_generic. Callbacks may be missing; an operation that needs a missing one
// is refused.
[[nodiscard]] ucs::result<ucp_datatype_t> create_generic(const ucp_generic_dt_ops_t& ops,
                                                         void* context);

// Implements ucp_dt_destroy; does nothing for other classes.
void destroy(ucp_datatype_t datatype) noexcept;

// Implements ucp_dt_query: returns the number of bytes to which `count` elements at `buffer` pack.
// `buffer` may be nullptr for contiguous datatypes and for generic ones whose size does not depend
// on the data.
[[nodiscard]] ucs::result<std::size_t> packed_size(ucp_datatype_t datatype, const void* buffer,
                                                   std::size_t count);

// Logs the call and what is wrong with the datatype. Returns UCS_ERR_INVALID_PARAM.
ucs_status_t reject(const char* call, ucp_datatype_t datatype, const void* buffer,
                    std::size_t count, const char* reason) noexcept;

}  // namespace ucp::dt
