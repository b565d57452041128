// Pools of equal elements: requests, descriptors, bounce buffers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucs::memory {

// Where a pool's chunks come from. Transports give registered or shared memory; the default is
// the heap. `size` may be rounded up by the callee. nullptr: no more.
class chunk_source {
public:
    virtual void* allocate(std::size_t& size) noexcept = 0;
    virtual void release(void* chunk, std::size_t size) noexcept = 0;

    static chunk_source& heap() noexcept;  // lines of 64 bytes

protected:
    ~chunk_source() = default;
};

// Pool of elements that keep their address and their constructed state from get to put to get.
// Grows by chunks, never shrinks. get and put are a few instructions; nothing is locked: owner
// context only. The owner puts everything back before it destroys the pool.
class mpool {
public:
    struct parameters {
        const char* name = "mpool";     // for the leak message
        std::size_t element_size = 0;   // bytes the user sees
        std::size_t alignment = 16;     // power of two up to 4096
        std::size_t align_offset = 0;   // the byte of the element that is aligned
        std::size_t grow_by = 64;       // elements of the first chunk; later chunks double …
        std::size_t grow_limit = 1024;  // … up to this many
        std::size_t max_elements = SIZE_MAX;  // get gives nullptr beyond
        chunk_source* source = nullptr;       // nullptr: the heap
        void* arg = nullptr;                  // for the hooks
        // Called once per element, when the pool grows and when it is destroyed.
        void (*construct)(void* element, void* chunk, void* arg) = nullptr;
        void (*destroy)(void* element, void* arg) = nullptr;
    };

    explicit mpool(const parameters& wanted) noexcept;
    mpool(const mpool&) = delete;
    mpool& operator=(const mpool&) = delete;
    ~mpool();

    // An element, or nullptr when max_elements are out or memory is short.
    [[nodiscard]] void* get() noexcept {
        header* top = free_;
        if (top == nullptr) [[unlikely]] {
            top = grow();
            if (top == nullptr) return nullptr;
        }
        free_ = top->next;
        top->owner = this;
        ++in_use_;
        return top + 1;
    }

    // Gives an element back to the pool that it came from.
    static void put(void* element) noexcept {
        header* place = static_cast<header*>(element) - 1;
        mpool* pool = place->owner;
        place->next = pool->free_;
        pool->free_ = place;
        --pool->in_use_;
    }

    // The pool of an element that is out.
    [[nodiscard]] static mpool& pool_of(void* element) noexcept {
        return *(static_cast<header*>(element) - 1)->owner;
    }

    // Makes sure that `count` further elements can be had without growing; false: cannot.
    bool reserve(std::size_t count) noexcept;

    [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t element_size() const noexcept { return params_.element_size; }
    [[nodiscard]] std::size_t chunk_bytes() const noexcept;

private:
    // Before each element: the next free one while it is in the pool, its pool while it is out.
    // Packed, because an align_offset may put elements on odd addresses.
    union __attribute__((packed)) header {
        header* next;
        mpool* owner;
    };
    struct chunk {
        void* memory;
        std::size_t bytes;
        char* first;  // first element's header
        std::size_t count;
    };

    header* grow() noexcept;
    void fill(chunk& fresh) noexcept;
    [[nodiscard]] std::size_t stride() const noexcept;

    header* free_ = nullptr;
    std::size_t in_use_ = 0;
    std::size_t capacity_ = 0;
    std::size_t next_count_;
    parameters params_;
    std::vector<chunk> chunks_;
};

}  // namespace ucs::memory
