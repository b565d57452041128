// A pool of memory for coroutine frames.
#pragma once

#include <array>
#include <cstddef>

namespace ucg::schedule {

// Keeps freed blocks in size classes, so that an operation that is started again allocates no
// memory from the system. One pool serves all operations that one thread drives, and outlives them.
// Owner context.
class frame_pool {
public:
    frame_pool() = default;
    frame_pool(const frame_pool&) = delete;
    frame_pool& operator=(const frame_pool&) = delete;
    ~frame_pool();

    // Returns nullptr if there is no memory.
    [[nodiscard]] void* allocate(std::size_t bytes) noexcept;

    // Gives a block back to the pool that it came from.
    static void release(void* block) noexcept;

    // Number of blocks that the pool has allocated from the system. For tests.
    [[nodiscard]] std::size_t allocated_blocks() const noexcept { return allocated_blocks_; }

private:
    static constexpr std::size_t smallest = 256;
    static constexpr std::size_t classes = 10;  // up to 128 KB; larger blocks are not kept

    // Precedes each block.
    struct alignas(std::max_align_t) header {
        frame_pool* home;
        header* next;
        std::size_t size_class;
    };
    static std::size_t class_of(std::size_t bytes) noexcept;

    std::array<header*, classes> free_{};
    std::size_t allocated_blocks_ = 0;
};

}  // namespace ucg::schedule
