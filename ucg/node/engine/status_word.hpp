// Encoding of a failure in memory that other ranks read: the negated status, so that 0 means no
// failure.
#pragma once

#include <cstdint>

#include "ucs/type/status.h"

namespace ucg::node {

[[nodiscard]] inline std::uint64_t word_of(ucs_status_t why) noexcept {
    return static_cast<std::uint64_t>(-int{why});
}

// Other ranks may write anything: a word that is no failure becomes UCS_ERR_IO_ERROR.
[[nodiscard]] inline ucs_status_t status_in(std::uint64_t word) noexcept {
    const bool is_valid = word >= 1 && word <= word_of(UCS_ERR_LAST);
    return is_valid ? static_cast<ucs_status_t>(-static_cast<int>(word)) : UCS_ERR_IO_ERROR;
}

}  // namespace ucg::node
