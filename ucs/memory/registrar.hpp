// Who makes memory known to a device.
#pragma once

#include <cstddef>

#include "ucs/type/result.hpp"

namespace ucs::memory {

// Registers ranges of memory with something that then reaches them without the processor. Called
// by the cache in front of it, from several threads at once and without any lock of the cache; it
// must not fork, nor call the cache. Memory may go away while it is being registered: an error is
// the answer then, or a registration of what was there.
class registrar {
public:
    // The range is whole pages. `access` is a mask of the registrar's own kind. What it returns is
    // for itself and for the users of the registration.
    virtual result<void*> register_memory(void* begin, std::size_t length, unsigned access) = 0;

    virtual void deregister_memory(void* handle) noexcept = 0;

protected:
    ~registrar() = default;
};

}  // namespace ucs::memory
