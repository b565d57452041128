#include "ucg/net/late_messages.hpp"

#include "ucg/net/tag.hpp"

namespace ucg::net {

// A receive of no bytes takes no data and ends the send.
unsigned drop_messages(ucp_worker_h worker, std::uint64_t tag, std::uint64_t mask) noexcept {
    unsigned dropped = 0;
    for (;; ++dropped) {
        ucp_tag_recv_info_t info{};
        ucp_tag_message_h const message = ucp_tag_probe_nb(worker, tag, mask, 1, &info);
        if (message == nullptr) return dropped;
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
        param.cb.recv = [](void* request, ucs_status_t, const ucp_tag_recv_info_t*, void*) {
            ucp_request_free(request);
        };
        static_cast<void>(ucp_tag_msg_recv_nbx(worker, nullptr, 0, message, &param));
    }
}

unsigned late_messages::drop(ucp_worker_h worker) noexcept {
    unsigned dropped = 0;
    for (const std::uint32_t group : groups_)
        dropped += drop_messages(worker, operation_tag(group, 0), group_mask);
    return dropped;
}

}  // namespace ucg::net
