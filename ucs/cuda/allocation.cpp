#include "ucs/cuda/allocation.hpp"

#include <fmt/format.h>

#include "ucs/cuda/context.hpp"
#include "ucs/cuda/scoped_context.hpp"

namespace ucs::cuda {
namespace {

class owned_allocation final : public allocation {
public:
    owned_allocation(const driver_functions& driver, primary_context kept, CUcontext context,
                     CUdeviceptr address) noexcept
        : allocation(reinterpret_cast<std::byte*>(address)),
          driver_(driver),
          kept_(std::move(kept)),
          context_(context) {}
    ~owned_allocation() override {
        const scoped_context current(driver_, context_);
        // With a context that the program has destroyed, the memory is gone as well.
        if (current.status() != CUDA_SUCCESS) return;
        driver_.cuMemFree_v2(reinterpret_cast<CUdeviceptr>(base()));
    }

private:
    const driver_functions& driver_;
    const primary_context kept_;  // empty: the context is the program's
    const CUcontext context_;
};

CUresult allocate(const driver_functions& driver, std::size_t length, ucs_memory_type_t type,
                  CUdeviceptr& address) noexcept {
    return type == UCS_MEMORY_TYPE_CUDA
               ? driver.cuMemAlloc_v2(&address, length)
               : driver.cuMemAllocManaged(&address, length, CU_MEM_ATTACH_GLOBAL);
}

}  // namespace

result<std::unique_ptr<allocation>> allocation::make(std::size_t length, ucs_memory_type_t type) {
    if (type != UCS_MEMORY_TYPE_CUDA && type != UCS_MEMORY_TYPE_CUDA_MANAGED)
        return UCS_ERR_UNSUPPORTED;
    const driver_functions* const driver = start_driver();
    if (driver == nullptr) {
        log::error(cuda_log, "no memory of a device can be allocated: {}", why_no_driver());
        return UCS_ERR_NO_DEVICE;
    }
    CUcontext context = nullptr;
    primary_context kept;
    driver->cuCtxGetCurrent(&context);
    if (context == nullptr) {
        auto retained = primary_context::retain(*driver, 0);
        if (!retained) return retained.status();
        kept = std::move(*retained);
        context = kept.handle();
    }
    const scoped_context current(*driver, context);
    ucs_status_t status = check(current.status(), "cuCtxPushCurrent_v2");
    if (status != UCS_OK) return status;
    CUdeviceptr address = 0;
    status = check(allocate(*driver, length, type, address),
                   type == UCS_MEMORY_TYPE_CUDA ? "cuMemAlloc_v2" : "cuMemAllocManaged",
                   fmt::format("to allocate {} bytes", length));
    if (status != UCS_OK) return status;
    return std::unique_ptr<allocation>(
        new owned_allocation(*driver, std::move(kept), context, address));
}

}  // namespace ucs::cuda
