// Memory of a message that its peer reads or writes by keys.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/memory.hpp"

namespace ucp {

class ep;
class peer;

// What one side of a message gives to the other over the lane that reaches memory, and has of it.
// Owned by the request, as long as the other side may use it: a send that is broken off leaves it
// with the peer object until its receiver says that it has done with it. Owner context.
struct lent_memory {
    uct::shared_memory shared;                   // ours
    std::unique_ptr<uct::remote_memory> theirs;  // what we read or write
    std::uint64_t address = 0;                   // of what we read
    std::uint64_t send = 0;                      // that was broken off
    ucs::datastruct::list_hook hook;
};

// nullptr: the lane needs no keys, or there is none for this memory, which is logged.
[[nodiscard]] std::unique_ptr<lent_memory> lend(const peer& to, std::span<std::byte> bytes,
                                                uct::memory_access allowed) noexcept;

// As messages carry it behind their headers: number of the device at its owner 1, length 1, key.
// Whole headers of active messages go beside it; memory with longer keys is not lent.
inline constexpr std::size_t longest_lent_key = 128;
std::size_t pack_key(const peer& to, const lent_memory& from, std::byte* into) noexcept;
[[nodiscard]] std::size_t packed_key_length(const lent_memory& from) noexcept;

// The memory that a peer lends us. nullptr: there is no key, or it is not one for our lane.
[[nodiscard]] std::unique_ptr<uct::remote_memory> take_key(const ep& from,
                                                           std::span<const std::byte> key,
                                                           uct::memory_access wanted);

}  // namespace ucp
