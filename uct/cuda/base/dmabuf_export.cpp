#include "uct/cuda/base/dmabuf_export.hpp"

#include <unistd.h>

#include "ucs/cuda/context.hpp"
#include "ucs/cuda/scoped_context.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/memory/device_memory.hpp"
#include "ucs/memory/dmabuf.hpp"
#include "ucs/type/allocated.hpp"
#include "uct/base/log.hpp"
#include "uct/cuda/base/synchronous_writes.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

struct page_range {
    CUdeviceptr begin;
    std::size_t length;
};

// The driver exports whole pages of the host's size.
page_range pages_around(CUdeviceptr begin, std::size_t length) noexcept {
    const auto page = static_cast<CUdeviceptr>(::sysconf(_SC_PAGESIZE));
    const CUdeviceptr first = begin / page * page;
    return {first, (begin + length - first + page - 1) / page * page};
}

class device_dmabufs final : public ucs::memory::dmabuf_source {
public:
    std::optional<ucs::memory::dmabuf> find(const void* address,
                                            std::size_t length) noexcept override {
        const driver_functions* const driver = loaded_driver();
        const auto memory = ucs::memory::find_memory(address).device;
        // The pages of managed memory move.
        if (driver == nullptr || !memory || memory->type != UCS_MEMORY_TYPE_CUDA)
            return std::nullopt;
        if (driver->cuMemGetHandleForAddressRange == nullptr) return std::nullopt;
        return export_range(*driver, *memory, reinterpret_cast<CUdeviceptr>(address), length);
    }

private:
    static std::optional<ucs::memory::dmabuf> export_range(const driver_functions& driver,
                                                           const device_memory& memory,
                                                           CUdeviceptr begin,
                                                           std::size_t length) noexcept {
        primary_context kept;
        CUcontext context = memory.context;
        if (context == nullptr) {
            auto made = primary_context::retain(driver, memory.device);
            if (!made) return std::nullopt;
            kept = std::move(*made);
            context = kept.handle();
        }
        const scoped_context current(driver, context);
        if (current.status() != CUDA_SUCCESS) return std::nullopt;
        const page_range pages = pages_around(begin, length);
        int descriptor = -1;
        const CUresult outcome = driver.cuMemGetHandleForAddressRange(
            &descriptor, pages.begin, pages.length, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
        if (outcome != CUDA_SUCCESS) {
            log_refusal(begin, length, outcome);
            return std::nullopt;
        }
        make_writes_synchronous(driver, begin);
        ucs::unique_fd owned = ucs::sys::within_budget(ucs::unique_fd(descriptor));
        if (!owned) return std::nullopt;
        return ucs::memory::dmabuf{std::move(owned), begin - pages.begin};
    }

    static void log_refusal(CUdeviceptr begin, std::size_t length, CUresult outcome) noexcept {
        static_cast<void>(ucs::allocated([&] {
            ucs::log::diag(cuda_log, "{} bytes of device memory at {:#x} have no dma-buf: {}",
                           length, begin, error_text(outcome));
        }));
    }
};

}  // namespace

void export_dmabufs() {
    // Never destroyed: threads may register memory while the process ends.
    static device_dmabufs& source = [&]() -> device_dmabufs& {
        auto& made = *new device_dmabufs;
        ucs::memory::add_dmabuf_source(made);
        return made;
    }();
    static_cast<void>(source);
}

}  // namespace uct::cuda
