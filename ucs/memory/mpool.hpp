// Pools of equal elements: requests, descriptors, bounce buffers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucs::memory {

// The allocator of a pool's chunks. Transports provide registered or shared memory; the default is
// the heap. allocate() may round `size` up, and returns nullptr if there is no more memory.
class chunk_source {
public:
    virtual void* allocate(std::size_t& size) noexcept = 0;
    virtual void release(void* chunk, std::size_t size) noexcept = 0;

    static chunk_source& heap() noexcept;  // chunks are aligned to and multiples of 64 bytes

protected:
    ~chunk_source() = default;
};

// A pool of elements that keep their address and their constructed state from get to put to get. It
// grows by chunks and never shrinks. get() and put() take a few instructions and no lock: owner
// context only. The owner must put all elements back before it destroys the pool.
class mpool {
public:
    struct parameters {
        const char* name = "mpool";     // for the leak message
        std::size_t element_size = 0;   // bytes available to the user
        std::size_t alignment = 16;     // power of two up to 4096
        std::size_t align_offset = 0;   // the byte of the element that is aligned
        std::size_t grow_by = 64;       // elements of the first chunk; later chunks double …
        std::size_t grow_limit = 1024;  // … up to this many
        std::size_t max_elements = SIZE_MAX;  // get() returns nullptr beyond
        chunk_source* source = nullptr;       // nullptr: the heap
        void* arg = nullptr;                  // for the hooks
        // Called once per element, when the pool grows and when it is destroyed.
        void (*construct)(void* element, void* chunk, void* arg) = nullptr;
        void (*destroy)(void* element, void* arg) = nullptr;
    };

    explicit mpool(const parameters& params) noexcept;
    mpool(const mpool&) = delete;
    mpool& operator=(const mpool&) = delete;
    ~mpool();

    // Returns an element, or nullptr if max_elements are in use or memory is short.
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

    // Returns an element to its pool.
    static void put(void* element) noexcept {
        header* top = static_cast<header*>(element) - 1;
        mpool* pool = top->owner;
        top->next = pool->free_;
        pool->free_ = top;
        --pool->in_use_;
    }

    // Returns the pool of an element that is in use.
    [[nodiscard]] static mpool& pool_of(void* element) noexcept {
        return *(static_cast<header*>(element) - 1)->owner;
    }

    // Grows the pool so that `count` more elements are available. Returns false if that is
    // impossible.
    bool reserve(std::size_t count) noexcept;

    [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t element_size() const noexcept { return params_.element_size; }
    [[nodiscard]] std::size_t chunk_bytes() const noexcept;

private:
    // Precedes each element. Holds the next free element while the element is free, and its pool
    // while it is in use. Packed, because an align_offset may put elements on odd addresses.
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
