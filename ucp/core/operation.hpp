// Parameters of an operation with their defaults; the only reader of ucp_request_param_t.
#pragma once

#include <cstdint>

#include "ucp/api/ucp.h"

namespace ucp {

// Every accessor gives the member when its bit is set and the default otherwise, so that the core
// knows no mask and no unset member is touched.
class operation {
public:
    explicit operation(const ucp_request_param_t& params) noexcept : params_(params) {}

    [[nodiscard]] ucp_datatype_t datatype() const noexcept {
        return has(UCP_OP_ATTR_FIELD_DATATYPE) ? params_.datatype : ucp_dt_make_contig(1);
    }
    [[nodiscard]] void* user_request() const noexcept {
        return has(UCP_OP_ATTR_FIELD_REQUEST) ? params_.request : nullptr;
    }
    [[nodiscard]] bool has_user_request() const noexcept { return has(UCP_OP_ATTR_FIELD_REQUEST); }
    [[nodiscard]] ucp_send_nbx_callback_t send_callback() const noexcept {
        return has(UCP_OP_ATTR_FIELD_CALLBACK) ? params_.cb.send : nullptr;
    }
    [[nodiscard]] ucp_tag_recv_nbx_callback_t recv_callback() const noexcept {
        return has(UCP_OP_ATTR_FIELD_CALLBACK) ? params_.cb.recv : nullptr;
    }
    [[nodiscard]] ucp_am_recv_data_nbx_callback_t recv_data_callback() const noexcept {
        return has(UCP_OP_ATTR_FIELD_CALLBACK) ? params_.cb.recv_am : nullptr;
    }
    [[nodiscard]] ucp_stream_recv_nbx_callback_t recv_stream_callback() const noexcept {
        return has(UCP_OP_ATTR_FIELD_CALLBACK) ? params_.cb.recv_stream : nullptr;
    }
    [[nodiscard]] void* user_data() const noexcept {
        return has(UCP_OP_ATTR_FIELD_USER_DATA) ? params_.user_data : nullptr;
    }
    [[nodiscard]] std::uint32_t flags() const noexcept {
        return has(UCP_OP_ATTR_FIELD_FLAGS) ? params_.flags : 0;
    }
    [[nodiscard]] ucp_tag_recv_info_t* tag_info() const noexcept {
        return has(UCP_OP_ATTR_FIELD_RECV_INFO) ? params_.recv_info.tag_info : nullptr;
    }
    [[nodiscard]] std::size_t* length_info() const noexcept {
        return has(UCP_OP_ATTR_FIELD_RECV_INFO) ? params_.recv_info.length : nullptr;
    }
    [[nodiscard]] ucp_mem_h memh() const noexcept {
        return has(UCP_OP_ATTR_FIELD_MEMH) ? params_.memh : nullptr;
    }
    [[nodiscard]] void* reply_buffer() const noexcept {
        return has(UCP_OP_ATTR_FIELD_REPLY_BUFFER) ? params_.reply_buffer : nullptr;
    }
    // Returns whether no flag matters to an operation that ends within its call.
    [[nodiscard]] bool is_plain() const noexcept {
        return !has(UCP_OP_ATTR_FIELD_REQUEST | UCP_OP_ATTR_FIELD_MEMH |
                    UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    }
    [[nodiscard]] bool no_immediate() const noexcept { return has(UCP_OP_ATTR_FLAG_NO_IMM_CMPL); }
    [[nodiscard]] bool force_immediate() const noexcept {
        return has(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    }

private:
    [[nodiscard]] bool has(std::uint32_t bit) const noexcept {
        return (params_.op_attr_mask & bit) != 0;
    }
    const ucp_request_param_t& params_;
};

}  // namespace ucp
