// How a rank writes a failure into memory that others read: negated, so that 0 is none.
#pragma once

#include <cstdint>

#include "ucs/type/status.h"

namespace ucg::node {

[[nodiscard]] inline std::uint64_t word_of(ucs_status_t why) noexcept {
    return static_cast<std::uint64_t>(-int{why});
}

// What others wrote may be anything: UCS_ERR_IO_ERROR for what is no failure.
[[nodiscard]] inline ucs_status_t status_in(std::uint64_t word) noexcept {
    const bool known = word >= 1 && word <= word_of(UCS_ERR_LAST);
    return known ? static_cast<ucs_status_t>(-static_cast<int>(word)) : UCS_ERR_IO_ERROR;
}

}  // namespace ucg::node
