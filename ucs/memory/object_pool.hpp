// A pool of objects of one type.
#pragma once

#include <new>

#include "ucs/memory/mpool.hpp"

namespace ucs::memory {

// mpool of T: objects are constructed by T's default constructor when the pool grows and destroyed
// with the pool, so get gives what put left. Owner context only.
template<class T>
class object_pool {
public:
    explicit object_pool(const char* name, std::size_t grow_by = 64,
                         std::size_t max_elements = SIZE_MAX) noexcept
        : pool_(parameters(name, grow_by, max_elements)) {}

    [[nodiscard]] T* get() noexcept { return static_cast<T*>(pool_.get()); }
    static void put(T* object) noexcept { mpool::put(object); }

    [[nodiscard]] std::size_t in_use() const noexcept { return pool_.in_use(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return pool_.capacity(); }

private:
    static mpool::parameters parameters(const char* name, std::size_t grow_by,
                                        std::size_t max_elements) noexcept {
        mpool::parameters wanted;
        wanted.name = name;
        wanted.element_size = sizeof(T);
        wanted.alignment = alignof(T);
        wanted.grow_by = grow_by;
        wanted.max_elements = max_elements;
        wanted.construct = [](void* element, void*, void*) { ::new (element) T(); };
        wanted.destroy = [](void* element, void*) { static_cast<T*>(element)->~T(); };
        return wanted;
    }

    mpool pool_;
};

}  // namespace ucs::memory
