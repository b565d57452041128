// State of an operation on a peer's memory while it runs.
#pragma once

#include "ucp/core/request.hpp"
#include "ucp/mem/rkey.hpp"
#include "uct/api/atomic.hpp"

namespace ucp {

// Owner context.
struct remote_op : send_state {
    std::uint64_t address = 0;       // in the peer's memory
    const mem::rkey* key = nullptr;  // the program's key to that memory
    mem::credentials owner;          // of the memory
    std::byte* window = nullptr;     // mapping of the memory in this process, or nullptr
    uct::atomic_op atomic;           // only for an atomic operation

    void set_target(std::uint64_t in_peer, const mem::rkey& its_key) noexcept {
        address = in_peer;
        key = &its_key;
        owner = its_key.owner();
    }
};

}  // namespace ucp
