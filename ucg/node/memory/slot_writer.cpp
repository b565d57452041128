#include "ucg/node/memory/slot_writer.hpp"

#include <algorithm>

#include "ucg/schedule/log.hpp"
#include "ucs/arch/copy.hpp"

namespace ucg::node {

// A trial continues with the next copy for as long as ordinary copies are fast.
void slot_writer::put_long(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
    const unsigned every = is_nontemporal_ ? limits_.tried_every : limits_.timed_every;
    if (fresh_ == 0 && (against_ != 0 || ++copies_ >= every)) {
        copies_ = 0;
        const ucs::time::nanoseconds begin = ucs::time::now();
        std::memcpy(into, from, bytes);
        note(bytes, ucs::time::now() - begin);
        return;
    }
    fresh_ -= std::min(fresh_, bytes);
    if (is_nontemporal_)
        ucs::arch::copy_nontemporal(into, from, bytes);
    else
        std::memcpy(into, from, bytes);
}

void slot_writer::note(std::size_t bytes, ucs::time::nanoseconds took) noexcept {
    const bool is_slow = static_cast<double>(took) >
                         limits_.slow_copy + limits_.slow_byte * static_cast<double>(bytes);
    against_ = is_slow != is_nontemporal_ ? against_ + 1 : 0;
    if (against_ < limits_.in_a_row) return;
    is_nontemporal_ = is_slow;
    against_ = 0;
    ucs::log::debug(node_log, "copying {} bytes into a slot took {} ns; from now on copies use {}",
                    bytes, took, is_nontemporal_ ? "non-temporal stores" : "ordinary stores");
}

}  // namespace ucg::node
