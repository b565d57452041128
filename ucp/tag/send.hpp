// Sending tagged messages.
#pragma once

#include "ucp/proto/send.hpp"
#include "ucp/proto/short_path.hpp"

namespace ucp {

// Takes a request, describes the message in it and submits it. Owner context.
ucs_status_ptr_t tag_send_request(ep& to, const void* buffer, std::size_t count, ucp_tag_t tag,
                                  bool sync, const operation& params);

// Sends a tagged message. See ucp_tag_send_nbx for the result.
inline ucs_status_ptr_t tag_send(ep& to, const void* buffer, std::size_t count, ucp_tag_t tag,
                                 const operation& params) {
    const ucp_datatype_t datatype = params.datatype();
    std::size_t length;
    if (dt::is_contig(datatype) && dt::contig_length(datatype, count, length) &&
        slot_of<short_path>(to).fits(length) && !params.no_immediate() &&
        (buffer != nullptr || length == 0) && ucs::memory::is_host(buffer)) [[likely]] {
        const ucs_status_t status = to.lane().am_short(wire::eager_only, tag, buffer, length);
        if (status == UCS_OK) [[likely]] {
            slot_of<short_path>(to).add_sent(to, length);
            if (params.has_user_request()) {
                record_success(params.user_request(), to.owner());
            }
            return nullptr;
        }
    }
    return tag_send_request(to, buffer, count, tag, false, params);
}

}  // namespace ucp
