#include "uct/ib/rc/base/tx_op.hpp"

#include <algorithm>

namespace uct::rc {

bool operations::hold_memory() const noexcept {
    return std::any_of(queue_.begin(), queue_.end(),
                       [](const tx_op& each) { return each.holds_memory; });
}

void operations::end_first(const ib::send_credits& credits, std::uint32_t number,
                           ucs_status_t status) noexcept {
    while (!queue_.empty()) {
        tx_op& oldest = queue_.front();
        if (!credits.is_complete(oldest.number)) return;
        queue_.pop_front();
        // An unsignaled request may have completed before its queue pair failed.
        oldest.status = oldest.number == number || oldest.for_user ? status : UCS_OK;
        ended_.push_back(oldest);
    }
}

void operations::cancel(bool all, ucs_status_t status) noexcept {
    op_queue kept;
    while (!queue_.empty()) {
        tx_op& oldest = queue_.front();
        queue_.pop_front();
        if (!all && !oldest.for_user) {
            kept.push_back(oldest);
            continue;
        }
        oldest.status = status == UCS_OK ? UCS_ERR_CANCELED : status;
        oldest.finish(oldest);
    }
    queue_.swap(kept);
}

}  // namespace uct::rc
