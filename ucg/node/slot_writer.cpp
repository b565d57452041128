#include "ucg/node/slot_writer.hpp"

#include <algorithm>

#include "ucg/node/log.hpp"
#include "ucs/arch/copy.hpp"

namespace ucg::node {

// A trial goes on with the next copy for as long as it finds ordinary ones fast.
void slot_writer::put_long(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
    const unsigned every = streams_ ? by_.tried_every : by_.timed_every;
    if (fresh_ == 0 && (against_ != 0 || ++copies_ >= every)) {
        copies_ = 0;
        const ucs::time::nanoseconds begin = ucs::time::now();
        std::memcpy(into, from, bytes);
        note(bytes, ucs::time::now() - begin);
        return;
    }
    fresh_ -= std::min(fresh_, bytes);
    if (streams_)
        ucs::arch::copy_nontemporal(into, from, bytes);
    else
        std::memcpy(into, from, bytes);
}

void slot_writer::note(std::size_t bytes, ucs::time::nanoseconds took) noexcept {
    const bool is_slow =
        static_cast<double>(took) > by_.slow_copy + by_.slow_byte * static_cast<double>(bytes);
    against_ = is_slow != streams_ ? against_ + 1 : 0;
    if (against_ < by_.in_a_row) return;
    streams_ = is_slow;
    against_ = 0;
    ucs::log::debug(node_log, "{} bytes were copied into a slot in {} ns: from now on {}", bytes,
                    took, streams_ ? "past the caches" : "by ordinary stores");
}

}  // namespace ucg::node
