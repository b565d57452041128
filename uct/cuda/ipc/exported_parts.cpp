#include "uct/cuda/ipc/exported_parts.hpp"

namespace uct::cuda {

using namespace ucs::cuda;

namespace {

struct mapped_part {
    CUdeviceptr base = 0;
    std::size_t length = 0;
    std::uint64_t handle_types = 0;
};

mapped_part part_at(const driver_functions& driver, CUdeviceptr address) noexcept {
    mapped_part found;
    std::array attributes{CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
                          CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES};
    std::array<void*, attributes.size()> values{&found.base, &found.length, &found.handle_types};
    const CUresult outcome = driver.cuPointerGetAttributes(
        static_cast<unsigned>(attributes.size()), attributes.data(), values.data(), address);
    return outcome == CUDA_SUCCESS ? found : mapped_part{};
}

}  // namespace

ucs::result<exported_range> retain_parts(const driver_functions& driver,
                                         std::span<const std::byte> bytes) {
    exported_range range;
    auto next = reinterpret_cast<CUdeviceptr>(bytes.data());
    const CUdeviceptr end = next + bytes.size();
    do {
        const mapped_part part = part_at(driver, next);
        const bool is_exported =
            (part.handle_types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
        if (!is_exported || part.length == 0) return UCS_ERR_UNSUPPORTED;
        CUmemGenericAllocationHandle retained{};
        if (driver.cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(part.base)) !=
            CUDA_SUCCESS)
            return UCS_ERR_UNSUPPORTED;
        exported_part kept{allocation_handle(driver, retained), part.length};
        if (range.all.empty()) range.base = part.base;
        range.length += part.length;
        range.all.push_back(std::move(kept));
        next = part.base + part.length;
    } while (next < end);
    return range;
}

}  // namespace uct::cuda
