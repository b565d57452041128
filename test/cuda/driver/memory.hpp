// All memory that the driver knows in this process, by address.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "test/cuda/driver/block.hpp"
#include "test/cuda/driver/context.hpp"
#include "test/cuda/driver/stream.hpp"

namespace standin {

struct pool;
struct allocation_handle;

enum class memory_kind {
    device,      // cuMemAlloc
    managed,     // cuMemAllocManaged
    pinned,      // cuMemHostAlloc
    registered,  // cuMemHostRegister
    pool,        // cuMemAllocAsync
    mapping,     // cuMemMap
    imported,    // cuIpcOpenMemHandle
};

// Owned by the table below until it is freed, and by the operations that use it. The lock guards
// it, except for what is atomic or never changes.
struct allocation {
    memory_kind kind;
    std::uint64_t base;
    std::size_t length;
    std::uint64_t buffer_id;  // unique in the process, for ever
    context_ref owner;        // null for pools and mappings, which belong to no context
    device* on;
    std::shared_ptr<block> memory{};  // null for memory of the host
    std::size_t offset = 0;           // in `memory`
    // The mapping of device addresses that contains the allocation.
    std::uint64_t mapped_base = 0;
    std::size_t mapped_length = 0;
    std::atomic<bool> is_freed{false};
    bool has_sync_memops = false;
    // For memory of a pool: the pool, and the operation that makes the memory usable.
    std::shared_ptr<pool> source{};
    marker ready{};
    // For a mapping: its handle, the reservation around it, and the devices that may access it.
    std::shared_ptr<allocation_handle> handle{};
    std::uint64_t reserved_base = 0;
    std::size_t reserved_length = 0;
    std::set<int> accessible_from{};
    // For imported memory: the exporter's entry, which holds `live_id` until it frees the memory.
    std::atomic<std::uint64_t>* live = nullptr;
    std::uint64_t live_id = 0;

    [[nodiscard]] bool is_host() const noexcept {
        return kind == memory_kind::pinned || kind == memory_kind::registered;
    }
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - base < length;
    }
    // Where the stand-in accesses the byte at an address. Any thread.
    [[nodiscard]] char* bytes_at(std::uint64_t address) const noexcept;
};

using allocation_ref = std::shared_ptr<allocation>;

// Returns a new object with an id; nothing is mapped or added.
[[nodiscard]] allocation_ref make_allocation(memory_kind kind, std::uint64_t base,
                                             std::size_t length, const context_ref& owner,
                                             device& on);

// Returns the allocation that contains the address; null if there is none.
[[nodiscard]] allocation_ref find_allocation(std::uint64_t address);

// Returns an allocation that overlaps the range; null if there is none.
[[nodiscard]] allocation_ref find_overlap(std::uint64_t base, std::size_t length);

void add_allocation(const allocation_ref& added);

// Forgets an allocation. Operations that are queued may still use it.
void forget_allocation(const allocation& forgotten);

// Marks it as freed and forgets it. Operations that use it fail.
void remove_allocation(allocation& removed);

// Takes device addresses for a block, maps it, and lets the allocation show it.
void map_block(allocation& shown, std::shared_ptr<block> memory, bool is_accessible = false);
// Unmaps device addresses that show a block, or the part that a mapping shows.
void unmap_addresses(std::uint64_t base, std::size_t length);

// Unmaps a block, and returns the addresses.
void unmap_block(const allocation& shown);

// Fills memory with a pattern, so that programs do not take it for anything else. Long memory is
// filled at its ends and in each page alone.
void scribble(char* bytes, std::size_t length) noexcept;

// Calls the visitor with each allocation, in the order of addresses.
void for_each_allocation(const std::function<void(const allocation_ref&)>& visitor);

struct host_range {
    void* address;
    std::size_t length;
};

// Frees the memory of a context. Returns host memory that the caller must unmap without the lock.
[[nodiscard]] std::vector<host_range> drop_memory(const context& dying);

}  // namespace standin
