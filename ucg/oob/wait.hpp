// A whole round over any ucg_oob_t.
#pragma once

#include <cstddef>

#include "ucg/api/ucg_oob.h"

namespace ucg::oob {

// Waits until a round has ended, asleep most of the time, and releases it. For the few rounds at
// the start of a group, where a millisecond more is nothing.
[[nodiscard]] ucs_status_t gather(const ucg_oob_t& over, const void* send, void* recv,
                                  std::size_t bytes) noexcept;

}  // namespace ucg::oob
