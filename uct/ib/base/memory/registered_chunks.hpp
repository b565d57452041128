// Registered memory for pools whose elements a device reads and writes.
#pragma once

#include <new>
#include <vector>

#include "ucs/memory/mapped.hpp"
#include "ucs/memory/mpool.hpp"
#include "ucs/vfs/directory.hpp"
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

// Pools of the descriptors of a transport: buffers that hold a message, and operations on the
// program's own memory. Both store the key of their memory in a member `key`. Owned by the
// interface or a part of it; owner context.
template<class Bounce, class Direct>
class descriptor_pools {
public:
    // `payload`: bytes of a message after its Bounce.
    descriptor_pools(domain& on, const char* bounces, std::size_t payload,
                     const char* directs) noexcept
        : bounce_chunks_(on),
          direct_chunks_(on),
          bounces_(parameters_of<Bounce>(bounces, bounce_chunks_, sizeof(Bounce) + payload)),
          directs_(parameters_of<Direct>(directs, direct_chunks_, sizeof(Direct))) {}

    // Return nullptr if there is no memory.
    [[nodiscard]] Bounce* get_bounce() noexcept { return static_cast<Bounce*>(bounces_.get()); }
    [[nodiscard]] Direct* get_direct() noexcept { return static_cast<Direct*>(directs_.get()); }
    template<class Descriptor>
    static void put(Descriptor& back) noexcept {
        ucs::memory::mpool::put(&back);
    }

    void describe(ucs::vfs::directory& into) const {
        into.folder("descriptors", [this](ucs::vfs::directory& pools) {
            pools.file("in_use",
                       [this] { return std::to_string(bounces_.in_use() + directs_.in_use()); });
            pools.file("bytes", [this] {
                return std::to_string(bounce_chunks_.bytes() + direct_chunks_.bytes());
            });
        });
    }

private:
    template<class Descriptor>
    static ucs::memory::mpool::parameters parameters_of(const char* name, registered_chunks& chunks,
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
        wanted.destroy = [](void* element, void*) {
            static_cast<Descriptor*>(element)->~Descriptor();
        };
        return wanted;
    }

    registered_chunks bounce_chunks_;
    registered_chunks direct_chunks_;
    ucs::memory::mpool bounces_;
    ucs::memory::mpool directs_;
};

}  // namespace uct::ib
