// Choice of the method that moves the data of a rendezvous, and whether the sender's memory is used
// in place.
#pragma once

#include "ucp/rndv/rate_history.hpp"
#include "uct/api/memory.hpp"

namespace ucp {

class ep;
class peer;
struct request;

// Returns the cost of registering our memory with all devices that move a transfer of this length.
[[nodiscard]] uct::preparation preparation_for(const peer& with, std::span<std::byte> bytes,
                                               uct::memory_access access,
                                               uct::memory_user user) noexcept;

// Receiver side: chooses by observed costs, or by predicted ones if there are none. `readable`: the
// sender exposes its memory. Owner context.
[[nodiscard]] rndv_method choose_method(const request& receive, const ep& from, bool readable);

// Sender side, for contiguous memory: returns whether registering it with the devices costs no more
// than copying it to buffers that are registered. `user` is the peer if the memory is to be exposed
// for reading, and this process if it is to be written from in place. Always true without a device.
// Called once per transfer.
[[nodiscard]] bool pays_in_place(const request& send, uct::memory_user user) noexcept;

}  // namespace ucp
