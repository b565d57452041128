// File descriptors of device memory for other drivers.
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "test/cuda/driver/memory.hpp"
#include "test/cuda/driver/settings.hpp"

namespace standin {
namespace {

constexpr std::size_t host_page = 4096;

// Opens the file anew: the caller's descriptor has a file offset of its own, and the caller may
// close it while the block uses its own.
int open_at(const block& memory, std::size_t offset) {
    const std::string name = "/proc/self/fd/" + std::to_string(memory.file());
    const int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    if (file >= 0 && ::lseek(file, static_cast<off_t>(offset), SEEK_SET) >= 0) return file;
    if (file >= 0) ::close(file);
    fail(CUDA_ERROR_OUT_OF_MEMORY, "the process has no file descriptor left");
}

}  // namespace

CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, std::size_t length,
                                       CUmemRangeHandleType type, unsigned long long flags) {
    return call(function::cuMemGetHandleForAddressRange, [&](held_lock&) {
        check_pointer(handle);
        if (!options().has_dma_buf) fail(CUDA_ERROR_NOT_SUPPORTED, "STANDIN_DMA_BUF is not set");
        check_argument(type == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD && flags == 0,
                       "there is no such type of handle, or no such flags");
        check_argument(address % host_page == 0 && length % host_page == 0 && length > 0,
                       "address and length must be multiples of the host's page");
        const allocation_ref found = find_allocation(address);
        const bool is_device = found != nullptr && (found->kind == memory_kind::device ||
                                                    found->kind == memory_kind::mapping);
        check_argument(is_device && length <= found->mapped_base + found->mapped_length - address,
                       "the range is not one allocation of a device");
        const std::size_t offset = found->offset + (address - found->base);
        *static_cast<int*>(handle) = open_at(*found->memory, offset);
    });
}

}  // namespace standin
