#include "test/adversary/faulty_peer/program.hpp"

#include <algorithm>

namespace adversary {

void must(bool holds, const char* problem) {
    if (holds) return;
    std::fprintf(stderr, "faulty_peer: %s\n", problem);
    std::fflush(nullptr);
    std::abort();
}

ucp_context_h make_context() {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = features;
    ucp_context_h context = nullptr;
    must(ucp_init(&params, nullptr, &context) == UCS_OK, "ucp_init failed");
    return context;
}

ucp_worker_h make_worker(ucp_context_h context) {
    ucp_worker_params_t params{};
    ucp_worker_h made = nullptr;
    must(ucp_worker_create(context, &params, &made) == UCS_OK, "ucp_worker_create failed");
    return made;
}

ucp_ep_h make_ep(ucp_worker_h worker, const std::vector<std::byte>& address,
                 ucp_err_handler_cb_t on_error, void* arg) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {on_error, arg};
    ucp_ep_h made = nullptr;
    must(ucp_ep_create(worker, &params, &made) == UCS_OK, "ucp_ep_create failed");
    return made;
}

std::vector<std::byte> address_of(ucp_worker_h worker) {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    must(ucp_worker_get_address(worker, &address, &length) == UCS_OK, "no address");
    const auto* const bytes = reinterpret_cast<const std::byte*>(address);
    std::vector<std::byte> copy(bytes, bytes + length);
    ucp_worker_release_address(worker, address);
    return copy;
}

shared_memory::shared_memory(ucp_context_h context)
    : context_(context), bytes_(2 * margin + shared_length, std::byte{0x5a}) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    params.address = bytes_.data() + margin;
    params.length = shared_length;
    must(ucp_mem_map(context, &params, &handle_) == UCS_OK, "ucp_mem_map failed");
}

shared_memory::~shared_memory() {
    ucp_mem_unmap(context_, handle_);
}

std::vector<std::byte> shared_memory::packed_key() const {
    void* packed = nullptr;
    std::size_t length = 0;
    must(ucp_rkey_pack(context_, handle_, &packed, &length) == UCS_OK, "ucp_rkey_pack failed");
    const auto* const bytes = static_cast<const std::byte*>(packed);
    std::vector<std::byte> copy(bytes, bytes + length);
    ucp_rkey_buffer_release(packed);
    return copy;
}

std::uint64_t shared_memory::address() const noexcept {
    return reinterpret_cast<std::uintptr_t>(bytes_.data() + margin);
}

bool shared_memory::margins_are_untouched() const {
    const auto is_untouched = [](std::byte each) { return each == std::byte{0x5a}; };
    return std::all_of(bytes_.begin(), bytes_.begin() + margin, is_untouched) &&
           std::all_of(bytes_.end() - margin, bytes_.end(), is_untouched);
}

}  // namespace adversary
