#include "ucp/mem/staging.hpp"

#include <new>

#include "ucp/log/log.hpp"

namespace ucp::mem {

std::byte* allocate_staging(std::size_t length) noexcept {
    auto* const memory = new (std::nothrow) std::byte[length];
    if (memory == nullptr)
        ucs::log::error(core_log, "out of memory: {} bytes of a device cannot be staged", length);
    return memory;
}

void free_staging(std::byte* memory, std::size_t) noexcept {
    delete[] memory;
}

}  // namespace ucp::mem
