// Memory of a message that its peer reads or writes by keys.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ucp/mem/device_domains.hpp"
#include "ucp/mem/reached.hpp"
#include "ucs/datastruct/intrusive.hpp"

namespace ucp {

class ep;
class peer;

// What one side of a message gives to the other over the lanes that reach memory, and has of it.
// Owned by the request, as long as the other side may use it: a send that is broken off leaves it
// with the peer object until its receiver says that it has done with it. Owner context.
struct lent_memory {
    std::vector<mem::device_memory> shared;       // ours, for each lane that may be used
    std::unique_ptr<mem::reached_memory> theirs;  // what we read or write
    std::uint64_t address = 0;                    // of what we read
    std::uint64_t send = 0;                       // that was broken off
    ucs::datastruct::list_hook hook;
};

// nullptr: the lanes need no keys, or the first one has none for this memory, which is logged.
[[nodiscard]] std::unique_ptr<lent_memory> lend(const peer& to, std::span<std::byte> bytes,
                                                uct::memory_access allowed) noexcept;

// As messages carry it behind their headers, for each lane: number of the device at its owner 1,
// length 1, key.
// Whole headers of active messages go beside it; memory with longer keys is not lent.
inline constexpr std::size_t longest_lent_key = 128;
std::size_t pack_keys(const lent_memory& from, std::byte* into) noexcept;
[[nodiscard]] std::size_t packed_keys_length(const lent_memory& from) noexcept;

// The memory that a peer lends us. nullptr: there is no key for the first of our
// lanes, or no memory.
[[nodiscard]] std::unique_ptr<mem::reached_memory> take_keys(const ep& from,
                                                             std::span<const std::byte> keys,
                                                             uct::memory_access wanted) noexcept;

}  // namespace ucp
