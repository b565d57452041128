// Mappings of peers' device memory that are kept for the next use.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "ucs/vfs/directory.hpp"
#include "uct/cuda/ipc/key.hpp"
#include "uct/cuda/ipc/mapping.hpp"

namespace uct::cuda {

// Finds mappings by the allocation that a key names. All of the key must agree, so that a forged
// key does not lead another peer's key to wrong memory. Mappings that somebody uses stay mapped
// when they leave the cache. Any thread.
class mapping_cache {
public:
    using held = std::shared_ptr<const mapping>;

    // Keeps at most so many mappings that nobody uses; 0: none.
    explicit mapping_cache(std::size_t most) noexcept : most_(most) {}

    // Returns the mapping of the key's allocation, or null.
    [[nodiscard]] held find(const ipc_key& key);

    // Adds a mapping. Returns it, or the one that another thread has added meanwhile. May throw
    // std::bad_alloc.
    [[nodiscard]] held add(const ipc_key& key, std::unique_ptr<mapping> made);

    // Removes the mappings of other allocations in the same range of the owner's addresses: the
    // owner has freed them.
    void drop_outdated(const ipc_key& key) noexcept;

    // Removes the mappings of an owner that nobody uses.
    void drop_unused(std::uint64_t owner) noexcept;

    void describe(ucs::vfs::directory& into) const;

private:
    struct entry {
        ipc_key key;
        held memory;
        [[nodiscard]] bool is_used() const noexcept { return memory.use_count() > 1; }
        [[nodiscard]] bool is_of_same_allocation(const ipc_key& other) const noexcept;
    };
    using entries = std::list<entry>;                    // the one used last at the end
    using id = std::pair<std::uint64_t, std::uint64_t>;  // owner and buffer id

    [[nodiscard]] entry* find_locked(const ipc_key& key) noexcept;
    template<class Condition>
    void drop_if(const Condition& is_dropped) noexcept;
    void remove(entries::iterator gone, entries& into) noexcept;

    const std::size_t most_;
    mutable std::mutex lock_;
    entries entries_;
    std::multimap<id, entries::iterator> by_id_;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace uct::cuda
