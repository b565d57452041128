#include "ucp/tag/send.hpp"

#include "ucp/proto/message_state.hpp"

namespace ucp {

ucs_status_ptr_t tag_send_request(ep& to, const void* buffer, std::size_t count, ucp_tag_t tag,
                                  bool sync, const operation& params) {
    worker& owner = to.owner();
    if (params.force_immediate()) [[unlikely]]
        return UCS_STATUS_PTR(refuse_immediate(to));
    request* send = begin_call(owner, params);
    if (send == nullptr) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    set_send_callback(*send, params);
    const ucs_status_t status = describe_send<message_state>(
        *send, sync ? send_kind::tag_sync : send_kind::tag, buffer, count, params.datatype());
    if (status != UCS_OK) return abandon_call(*send, status);
    send->as<message_state>().first_word = tag;
    submit(to, *send);
    return end_call(*send, params);
}

}  // namespace ucp
