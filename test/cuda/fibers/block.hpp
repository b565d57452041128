// The threads of one block, and the operations in which they meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/cuda/fibers/coroutine.hpp"

namespace fibers {

class block;

// Operations that wait for all threads of the block or warp. warp_barrier and later: of the warp.
enum class meeting : std::uint8_t {
    none,
    block_barrier,
    block_any,
    warp_barrier,
    warp_ballot,
    warp_shuffle,
};

// A thread of the kernel.
struct gpu_thread {
    block* owner = nullptr;
    unsigned index = 0;
    coroutine body;
    meeting waits_in = meeting::none;
    std::uint64_t value = 0;   // that it brings into the meeting
    unsigned lane = 0;         // that warp_shuffle reads
    std::uint64_t result = 0;  // of the meeting
    bool is_idle = false;      // its last turn only looked at a flag
};

// Owned and used by one worker.
class block {
public:
    block(unsigned index, unsigned threads, std::size_t shared_bytes);

    [[nodiscard]] unsigned index() const noexcept { return index_; }
    [[nodiscard]] unsigned thread_count() const noexcept {
        return static_cast<unsigned>(threads_.size());
    }
    [[nodiscard]] std::byte* shared_memory() noexcept { return shared_.data(); }
    [[nodiscard]] std::vector<gpu_thread>& threads() noexcept { return threads_; }

    // The thread has set its fields. Appends to `ready` the threads that can go on, if it is the
    // last one of its block or warp. Throws std::string, the reason, if the threads do not match.
    void arrive(gpu_thread& thread, std::vector<gpu_thread*>& ready);

    // Returns what the threads that have not ended wait for; empty if all have ended.
    [[nodiscard]] std::string description() const;

private:
    void finish(gpu_thread* first, std::size_t count);
    [[nodiscard]] std::string place_of(const gpu_thread& thread) const;

    unsigned index_;
    std::vector<gpu_thread> threads_;
    std::vector<std::byte> shared_;
    std::size_t in_block_meeting_ = 0;
    std::vector<std::size_t> in_warp_meeting_;
};

}  // namespace fibers
