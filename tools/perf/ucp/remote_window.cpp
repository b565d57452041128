#include "tools/perf/ucp/remote_window.hpp"

#include <cstring>

#include "tools/common/failure.hpp"
#include "ucp/mem/wire.hpp"

namespace tools::perf {
namespace {

constexpr ucp_tag_t greeting_tag = 0x3000'0000;
constexpr ucp_tag_t done_tag = 0x4000'0000;
constexpr std::size_t line_pair = 128;  // bytes that processors may prefetch together
constexpr ucp_tag_t every_bit = ~ucp_tag_t{0};

}  // namespace

struct remote_window::greeting {
    std::uint64_t address;
    std::uint32_t key_length;
    std::array<std::byte, 244> key;
};

remote_window::remote_window(const connection& conn, std::size_t length)
    : conn_(conn),
      length_(length),
      part_((length + line_pair - 1) / line_pair * line_pair),
      loop_(conn.worker, conn.stop, conn.params.waiting),
      context_(conn.context) {
    allocate();
    exchange();
}

remote_window::~remote_window() {
    if (key_ != nullptr) ucp_rkey_destroy(key_);
    if (memory_ != nullptr) ucp_mem_unmap(context_, memory_);
}

void remote_window::allocate() {
    ucp_mem_map_params_t map_params{};
    map_params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    map_params.length = memory_of_buffers(2, part_, conn_.params.threads);
    map_params.flags = UCP_MEM_MAP_ALLOCATE;
    require_ok(ucp_mem_map(context_, &map_params, &memory_), "ucp_mem_map");
    ucp_mem_attr_t attr{};
    attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    require_ok(ucp_mem_query(memory_, &attr), "ucp_mem_query");
    base_ = static_cast<std::byte*>(attr.address);
    std::memset(base_, 0, 2 * part_);
    if (!conn_.params.memory_handles) return;
    local_param_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
    local_param_.memh = memory_;
}

void remote_window::exchange() {
    greeting own{}, peer{};
    void* packed = nullptr;
    std::size_t size = 0;
    require_ok(ucp_rkey_pack(context_, memory_, &packed, &size), "ucp_rkey_pack");
    const bool fits = size <= own.key.size();
    if (fits) std::memcpy(own.key.data(), packed, size);
    ucp_rkey_buffer_release(packed);
    if (!fits) throw failure("the library's keys are too long");
    own.address = reinterpret_cast<std::uint64_t>(base_);
    own.key_length = static_cast<std::uint32_t>(size);
    ucp_request_param_t none{};
    const ucp_tag_t tag = greeting_tag + conn_.thread;
    const ucs_status_ptr_t sending = ucp_tag_send_nbx(conn_.ep, &own, sizeof own, tag, &none);
    finish("ucp_tag_recv_nbx",
           ucp_tag_recv_nbx(conn_.worker, &peer, sizeof peer, tag, every_bit, &none));
    finish("ucp_tag_send_nbx", sending);
    remote_ = peer.address;
    // The library reads as many bytes as the key's own length field says, so copy the untrusted key
    // into a buffer of the largest size.
    if (peer.key_length > peer.key.size()) throw failure("the peer sent a malformed key");
    std::array<std::byte, ucp::mem::wire::longest> key{};
    std::copy_n(peer.key.begin(), peer.key_length, key.begin());
    require_ok(ucp_ep_rkey_unpack(conn_.ep, key.data(), &key_), "ucp_ep_rkey_unpack");
}

void remote_window::finish(const char* call, ucs_status_ptr_t started) {
    require_ok(loop_.finish(started), call);
}

void remote_window::flush() {
    ucp_request_param_t none{};
    finish("ucp_ep_flush_nbx", ucp_ep_flush_nbx(conn_.ep, &none));
}

void remote_window::send_done() {
    ucp_request_param_t none{};
    finish("ucp_tag_send_nbx",
           ucp_tag_send_nbx(conn_.ep, nullptr, 0, done_tag + conn_.thread, &none));
}

void remote_window::wait_done() {
    ucp_request_param_t none{};
    finish("ucp_tag_recv_nbx",
           ucp_tag_recv_nbx(conn_.worker, nullptr, 0, done_tag + conn_.thread, every_bit, &none));
}

}  // namespace tools::perf
