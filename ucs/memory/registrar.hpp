// The interface through which a device registers memory.
#pragma once

#include <cstddef>

#include "ucs/type/result.hpp"

namespace ucs::memory {

// Registers memory ranges with a device, which then accesses them without the processor. The
// registration cache calls it, from several threads concurrently and without holding a lock. It
// must not fork, and must not call the cache. If memory is unmapped during its registration, the
// registrar returns an error or a registration of the memory that was mapped.
class registrar {
public:
    // Registers a range of whole pages. `access` is a mask that the registrar defines. Returns a
    // handle for the registrar itself and for the users of the registration.
    virtual result<void*> register_memory(void* begin, std::size_t length, unsigned access) = 0;

    virtual void deregister_memory(void* handle) noexcept = 0;

protected:
    ~registrar() = default;
};

}  // namespace ucs::memory
