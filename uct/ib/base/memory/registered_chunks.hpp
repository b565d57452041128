// Registered memory for pools whose elements a device reads and writes.
#pragma once

#include <new>
#include <vector>

#include "ucs/memory/mapped.hpp"
#include "ucs/memory/mpool.hpp"
#include "uct/ib/base/memory/domain.hpp"

namespace uct::ib {

// Allocates pages and registers them chunk by chunk. Owned next to the pool, before it; owner
// context.
class registered_chunks final : public ucs::memory::chunk_source {
public:
    // `node`: the NUMA node of the pages; -1: the node of the processor that touches them first.
    explicit registered_chunks(domain& on, int node = -1) noexcept : on_(on), node_(node) {}

    void* allocate(std::size_t& size) noexcept override;
    void release(void* memory, std::size_t size) noexcept override;

    // Returns the key of the chunk that was allocated last. A pool constructs the elements of a
    // chunk right after its allocation.
    [[nodiscard]] std::uint32_t newest_key() const noexcept { return chunks_.back().region->lkey; }
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    struct chunk {
        ucs::memory::mapped pages;
        region_handle region;  // destroyed first
    };
    domain& on_;
    const int node_;
    std::vector<chunk> chunks_;
};

// Returns the parameters of a pool whose descriptors store the key of their memory in a member
// `key`.
template<class Descriptor>
[[nodiscard]] ucs::memory::mpool::parameters pool_of(const char* name, registered_chunks& chunks,
                                                     std::size_t size) {
    ucs::memory::mpool::parameters wanted;
    wanted.name = name;
    wanted.element_size = size;
    wanted.alignment = alignof(Descriptor);
    wanted.grow_by = 32;
    wanted.grow_limit = 512;
    wanted.source = &chunks;
    wanted.arg = &chunks;
    wanted.construct = [](void* element, void*, void* arg) {
        auto* const fresh = ::new (element) Descriptor();
        fresh->key = static_cast<const registered_chunks*>(arg)->newest_key();
    };
    wanted.destroy = [](void* element, void*) { static_cast<Descriptor*>(element)->~Descriptor(); };
    return wanted;
}

}  // namespace uct::ib
