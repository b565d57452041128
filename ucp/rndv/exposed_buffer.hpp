// The exposed buffer of a rendezvous: memory of one message that the peer's device reads or writes
// by keys.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ucp/mem/access_path.hpp"
#include "ucp/mem/device_domains.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucp/rndv/wire.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

class ep;
class peer;

// Memory that one side of a message exposes to the other over lanes with keys, and access to memory
// that the other side exposes. Owned by the request as long as the peer may use the memory. If a
// send is aborted, the peer object keeps it until the receiver says that it has finished with it.
// Owner context.
struct exposed_buffer {
    std::vector<mem::device_memory> shared;  // our memory, for each lane that may be used
    std::unique_ptr<mem::access_path> path;  // the peer's memory that we read or write
    std::uint64_t address = 0;               // address of the memory that we read
    std::uint64_t send = 0;                  // the aborted send that it belongs to
    ucs::datastruct::list_hook hook;
};

// Exposes memory to the peer. Returns nullptr if the lanes need no keys, or if the first lane has
// none for this memory, which is logged.
[[nodiscard]] std::unique_ptr<exposed_buffer> expose(const peer& to, std::span<std::byte> bytes,
                                                     uct::memory_access allowed) noexcept;

// Exposes memory of a device to the peer for reading, over the lane to devices. Returns nullptr if
// the device does not allow that for this memory, or if there is no memory.
[[nodiscard]] std::unique_ptr<exposed_buffer> expose_on_device(const peer& to,
                                                               std::span<std::byte> bytes) noexcept;

// Format behind the headers of messages, for each lane: number of the device at its owner 1, length
// 1, key. Whole headers of active messages must fit in front of it; memory with longer keys is not
// exposed.
inline constexpr std::size_t longest_exposed_keys = 128;
std::size_t pack_keys(const exposed_buffer& from, std::byte* into) noexcept;
[[nodiscard]] std::size_t packed_keys_length(const exposed_buffer& from) noexcept;

// Returns access to the memory that a peer exposes. Returns nullptr if there is no key for the
// first of our lanes and none for the lane to devices, or no memory.
[[nodiscard]] std::unique_ptr<mem::access_path> take_keys(const ep& from,
                                                          std::span<const std::byte> keys,
                                                          uct::memory_access wanted) noexcept;

// Returns the contents of an RTS that came over the endpoint, with the keys behind its header.
[[nodiscard]] rts_info read_rts(const ep& from, const wire::rts_header& header,
                                std::span<const std::byte> keys) noexcept;

}  // namespace ucp
