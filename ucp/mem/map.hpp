// Registers memory, and resolves the keys of peers' memory.
#pragma once

#include "ucp/mem/rkey.hpp"

namespace ucp::mem {

// Parameters of ucp_mem_map, with defaults.
struct map_params {
    void* address = nullptr;
    std::size_t length = 0;
    std::uint8_t allowed = all_access;
    bool allocate = false;
    ucs_memory_type_t type = UCS_MEMORY_TYPE_HOST;  // of memory to allocate
    bool fixed = false;                             // allocate at `address` or fail
    const std::byte* exported = nullptr;            // import this key instead
};

// Registers, allocates or imports memory. Any thread. Failures are logged.
ucs::result<memory*> map(memory_table& table, const map_params& params);

// Unpacks a key, which may contain anything. Returns UCS_ERR_INVALID_PARAM if it is malformed. A
// key to memory that cannot be mapped here is valid; only its use may fail. Any thread.
ucs::result<std::unique_ptr<rkey>> unpack(memory_table& table, const std::byte* packed);

}  // namespace ucp::mem
