#include "uct/ib/base/completion_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uct::ib {

ucs::result<completion_queue> completion_queue::create(domain& on, unsigned size,
                                                       ibv_comp_channel* channel,
                                                       event_inbox& inbox) {
    const auto most = static_cast<unsigned>(std::max(1, on.attr().max_cqe));
    ibv_cq* const made =
        ibv_create_cq(&on.context(), static_cast<int>(std::min(size, most)), nullptr, channel, 0);
    if (made == nullptr) {
        ucs::log::error(ib_log, "{}: no completion queue of {} entries: {}", on.name(), size,
                        std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    return completion_queue(queue_handle(made), inbox);
}

bool completion_queue::moderate(domain& on, unsigned count, unsigned microseconds) noexcept {
    ibv_device_attr_ex all{};
    if (ibv_query_device_ex(&on.context(), nullptr, &all) != 0) return false;
    const ibv_cq_moderation_caps& can = all.cq_mod_caps;
    if (can.max_cq_count == 0) return false;
    ibv_modify_cq_attr wanted{};
    wanted.attr_mask = IBV_CQ_ATTR_MODERATE;
    wanted.moderate.cq_count =
        static_cast<std::uint16_t>(std::min<unsigned>(count, can.max_cq_count));
    wanted.moderate.cq_period =
        static_cast<std::uint16_t>(std::min<unsigned>(microseconds, can.max_cq_period));
    return ibv_modify_cq(queue_.get(), &wanted) == 0;
}

void completion_queue::note_broken() noexcept {
    if (broken_) return;
    broken_ = true;
    ucs::log::error(ib_log, "a completion queue cannot be read any more");
    // The same event that the device reports for a broken queue.
    inbox_->put({.type = IBV_EVENT_CQ_ERR, .queue = queue_.get()});
}

ucs_status_t status_of(ibv_wc_status status) noexcept {
    switch (status) {
        case IBV_WC_SUCCESS:
            return UCS_OK;
        case IBV_WC_RETRY_EXC_ERR:
        case IBV_WC_RNR_RETRY_EXC_ERR:
        case IBV_WC_RESP_TIMEOUT_ERR:
            return UCS_ERR_ENDPOINT_TIMEOUT;
        case IBV_WC_LOC_PROT_ERR:
        case IBV_WC_REM_ACCESS_ERR:
            return UCS_ERR_INVALID_ADDR;
        case IBV_WC_REM_INV_REQ_ERR:
        case IBV_WC_LOC_LEN_ERR:
            return UCS_ERR_REJECTED;
        case IBV_WC_REM_ABORT_ERR:
        case IBV_WC_REM_OP_ERR:
            return UCS_ERR_CONNECTION_RESET;
        case IBV_WC_WR_FLUSH_ERR:
            return UCS_ERR_CANCELED;
        default:
            return UCS_ERR_IO_ERROR;
    }
}

}  // namespace uct::ib
