// Making registered memory, and finding what a peer's key leads to.
#pragma once

#include "ucp/mem/rkey.hpp"

namespace ucp::mem {

// What ucp_mem_map was asked for, with defaults.
struct map_params {
    void* address = nullptr;
    std::size_t length = 0;
    std::uint8_t allowed = all_access;
    bool allocate = false;
    bool exactly = false;                 // allocate at `address`, or not at all
    const std::byte* exported = nullptr;  // import this instead
};

// Any thread. Failures are logged.
ucs::result<memory*> map(memory_table& into, const map_params& params);

// From a packed key, which may be anything: UCS_ERR_INVALID_PARAM where it is malformed. One that
// leads to nothing is good as long as nobody uses it. Any thread.
ucs::result<std::unique_ptr<rkey>> unpack(memory_table& here, const std::byte* packed);

}  // namespace ucp::mem
