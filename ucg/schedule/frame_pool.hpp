// Memory for the frames of coroutines.
#pragma once

#include <array>
#include <cstddef>

namespace ucg::schedule {

// Keeps what was freed, by power of two: an operation that is started again allocates nothing. One
// for all operations that one thread drives; outlives them. Owner context.
class frame_pool {
public:
    frame_pool() = default;
    frame_pool(const frame_pool&) = delete;
    frame_pool& operator=(const frame_pool&) = delete;
    ~frame_pool();

    // nullptr: no memory.
    [[nodiscard]] void* allocate(std::size_t bytes) noexcept;

    // Gives a block back to the pool that it came from.
    static void release(void* block) noexcept;

    // Blocks that came from the system so far, for tests.
    [[nodiscard]] std::size_t obtained() const noexcept { return obtained_; }

private:
    static constexpr std::size_t smallest = 256;
    static constexpr std::size_t classes = 10;  // up to 128 KB; what is larger is not kept

    // Before each block.
    struct alignas(std::max_align_t) header {
        frame_pool* home;
        header* next;
        std::size_t size_class;
    };
    static std::size_t class_of(std::size_t bytes) noexcept;

    std::array<header*, classes> free_{};
    std::size_t obtained_ = 0;
};

}  // namespace ucg::schedule
