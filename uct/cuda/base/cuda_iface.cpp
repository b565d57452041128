#include "uct/cuda/base/cuda_iface.hpp"

#include <fmt/format.h>

#include <cstring>

#include "ucs/memory/device_memory.hpp"
#include "uct/cuda/base/dmabuf_export.hpp"

namespace uct::cuda {

listing list_driver(const char* transport) {
    constexpr const char* device = "cuda";
    if (ucs::cuda::load_driver() != nullptr)
        return {.usable = {{transport, device, device_type::accelerator}}, .unusable = {}};
    return {
        .usable = {},
        .unusable = {{transport, device, device_type::accelerator, ucs::cuda::why_no_driver()}}};
}

cuda_iface::cuda_iface(const resource& where, const iface_params& params,
                       const copy_queue::limits& limits)
    : base_iface(where, params), own_(process_address::next()), copies_(limits) {
    if (ucs::cuda::loaded_driver() != nullptr) export_dmabufs();
    attr_.address_length = sizeof(process_address);
    attr_.cost = poll_cost::memory;
    attr_.ends_in_progress = true;
    attr_.max_iov = 64;
    attr_.max_rma = ~std::size_t{0};
    for (memory_kinds* const kinds : {&attr_.local_memory, &attr_.remote_memory}) {
        kinds->add(UCS_MEMORY_TYPE_CUDA);
        kinds->add(UCS_MEMORY_TYPE_CUDA_MANAGED);
    }
}

unsigned cuda_iface::progress() {
    return copies_.progress() + dispatch_waiting();
}

void cuda_iface::pack_address(std::span<std::byte> into) const {
    std::memcpy(into.data(), &own_, sizeof own_);
}

void cuda_iface::describe(ucs::vfs::directory& into) const {
    base_iface::describe(into);
    into.folder("copies", [this](ucs::vfs::directory& folder) { copies_.describe(folder); });
}

std::string cuda_ep::peer_name() const {
    return fmt::format("pid {}", peer_.pid);
}

}  // namespace uct::cuda
