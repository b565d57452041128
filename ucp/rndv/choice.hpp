// How the data of an announced message is moved, and whether from where it lies.
#pragma once

#include "ucp/rndv/rate_book.hpp"
#include "uct/api/memory.hpp"

namespace ucp {

class ep;
class peer;
struct request;

// What it costs to make our memory known to all devices that move a transfer of this length.
[[nodiscard]] uct::preparation preparation_for(const peer& with, std::span<std::byte> bytes,
                                               uct::memory_access how,
                                               uct::memory_user by) noexcept;

// For the receiver, by what was observed, else by what is predicted. `readable`: the sender lends
// its memory. Owner context.
[[nodiscard]] rndv_method choose_method(const request& receive, const ep& from, bool readable);

// For the sender of contiguous memory: whether making it known to its devices costs no more than
// copying it to buffers that they know. `by` the peer: it is lent, to be read; by us: it is to be
// written from where it lies. Always, where no device is involved. Asked once for a transfer.
[[nodiscard]] bool pays_in_place(const request& send, uct::memory_user by) noexcept;

}  // namespace ucp
