// Operations that the program has ended and whose buffers one peer may still use.
#pragma once

#include <memory>

#include "ucp/core/request.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/rndv/exposed_buffer.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

// Slot of a peer: aborted sends and receives whose buffers the peer may still read or write. Owner
// context.
class kept_operations {
public:
    explicit kept_operations(peer& of_peer) noexcept : peer_(of_peer) {}
    ~kept_operations();
    kept_operations(const kept_operations&) = delete;
    kept_operations& operator=(const kept_operations&) = delete;

    // Keeps the exposed buffer of an aborted send; release_exposed() releases it.
    void keep_exposed(std::unique_ptr<exposed_buffer> still_used) noexcept;
    void release_exposed(std::uint64_t send) noexcept;
    // Keeps an aborted receive whose buffer the peer still writes to. It ends when the peer says
    // that it has finished (`let_go`), or is gone (`end_receives`). It holds a reference to the
    // peer.
    void keep(request& receive) noexcept;
    void let_go(request& receive) noexcept;
    void end_receives();

private:
    peer& peer_;
    ucs::datastruct::list<exposed_buffer, &exposed_buffer::hook> exposed_;
    ucs::datastruct::list<request, &request::active_hook> receives_;
};

}  // namespace ucp
