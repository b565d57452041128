#include "ucs/cuda/pointer.hpp"

#include <array>

namespace ucs::cuda {

std::optional<device_memory> query_pointer(const driver_functions& driver, const void* address,
                                           CUresult* told) noexcept {
    device_memory found;
    CUmemorytype kind{};
    // The driver writes booleans of one or of four bytes, depending on the attribute's age.
    unsigned is_managed = 0;
    unsigned has_legacy_handle = 0;
    std::array attributes{
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_CONTEXT,     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_BUFFER_ID,   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,  CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE};
    std::array<void*, attributes.size()> values{&kind,         &is_managed,       &found.context,
                                                &found.device, &found.buffer_id,  &found.base,
                                                &found.length, &has_legacy_handle};
    // Unknown addresses are no error here: all values are 0 then.
    const CUresult outcome =
        driver.cuPointerGetAttributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                      values.data(), reinterpret_cast<CUdeviceptr>(address));
    if (told != nullptr) *told = outcome;
    if (outcome != CUDA_SUCCESS) return std::nullopt;
    if (is_managed != 0) {
        found.type = UCS_MEMORY_TYPE_CUDA_MANAGED;
    } else if (kind != CU_MEMORYTYPE_DEVICE) {
        return std::nullopt;
    }
    found.has_legacy_handle = has_legacy_handle != 0;
    return found;
}

std::uint64_t query_buffer_id(const driver_functions& driver, const void* address) noexcept {
    std::uint64_t id = 0;
    const CUresult outcome = driver.cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                                          reinterpret_cast<CUdeviceptr>(address));
    return outcome == CUDA_SUCCESS ? id : 0;
}

}  // namespace ucs::cuda
