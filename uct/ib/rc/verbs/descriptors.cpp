#include "uct/ib/rc/verbs/descriptors.hpp"

#include <new>

namespace uct::rc {
namespace {

template<class Descriptor>
ucs::memory::mpool::parameters pool_of(const char* name, ib::registered_chunks& chunks,
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
        fresh->key = static_cast<const ib::registered_chunks*>(arg)->newest_key();
    };
    wanted.destroy = [](void* element, void*) { static_cast<Descriptor*>(element)->~Descriptor(); };
    return wanted;
}

}  // namespace

descriptors::descriptors(ib::domain& on, const settings& options) noexcept
    : bounce_chunks_(on),
      direct_chunks_(on),
      bounces_(pool_of<bounce>("rc bounce buffers", bounce_chunks_,
                               sizeof(bounce) + options.segment.bytes)),
      directs_(pool_of<direct>("rc descriptors", direct_chunks_, sizeof(direct))) {}

}  // namespace uct::rc
