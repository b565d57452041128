// A pool of objects of one type.
#pragma once

#include <new>

#include "ucs/memory/mpool.hpp"

namespace ucs::memory {

// An mpool of T. T's default constructor runs when the pool grows, and the destructor when the pool
// is destroyed, so an object from get() is in the state in which put() left it. Owner context only.
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
        mpool::parameters params;
        params.name = name;
        params.element_size = sizeof(T);
        params.alignment = alignof(T);
        params.grow_by = grow_by;
        params.max_elements = max_elements;
        params.construct = [](void* element, void*, void*) { ::new (element) T(); };
        params.destroy = [](void* element, void*) { static_cast<T*>(element)->~T(); };
        return params;
    }

    mpool pool_;
};

}  // namespace ucs::memory
