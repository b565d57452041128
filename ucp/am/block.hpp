// Memory for an active message that a program may keep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucp/am/wire.hpp"
#include "ucp/rndv/announcement.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/type/status.h"

namespace ucp {

class peer;

// Right before the data, so that the program's pointer leads here. An announced message has no data
// yet: its block is what the program calls a descriptor. Owned by the pool; while the program has
// it, it is in the receiver's list. Owner context.
struct alignas(16) am_block : kept_announcement {
    enum class use : std::uint8_t {
        told,      // the handler runs
        kept,      // the program will receive or release it
        returned,  // while the handler ran
    };

    std::size_t length = 0;  // of the data
    std::uint64_t from = 0;  // our endpoint to the sender; 0: need not be known
    announced what;          // request 0: the data is here
    wire::am_word word{};
    use state = use::told;
    ucs_status_t lost_by = UCS_OK;  // the sender of what was announced is gone
    bool recycled = false;          // goes back to the pool's spare ones
    std::uint32_t shift = 0;        // from the begin of the allocation to the block
    peer* sender = nullptr;         // held; its share counts the block until all data is here
    std::uint64_t charged = 0;      // bytes of that limit
    ucs::datastruct::auto_unlink_hook kept_hook;

    [[nodiscard]] bool is_announced() const noexcept { return what.request != 0; }
    [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    // The program's header, where it has to wait for data.
    [[nodiscard]] std::byte* header() noexcept { return data() + wire::filled_up(length); }
    static am_block& of(void* data) noexcept { return *(static_cast<am_block*>(data) - 1); }
};
static_assert(sizeof(am_block) % 16 == 0);  // its alignment is that of the data

// Makes and recycles blocks. Owned by a worker; owner context.
class am_block_pool {
public:
    // `alignment` of the data that programs see: a power of two.
    explicit am_block_pool(std::size_t alignment) noexcept;
    ~am_block_pool();
    am_block_pool(const am_block_pool&) = delete;
    am_block_pool& operator=(const am_block_pool&) = delete;

    // Returns the bytes of memory that a block for so much data takes, and a header behind it.
    [[nodiscard]] std::uint64_t cost_of(std::size_t length,
                                        std::size_t header_length) const noexcept;
    // Room for so much data, and a header behind it. nullptr: no memory.
    [[nodiscard]] am_block* get(std::size_t length, std::size_t header_length = 0) noexcept;
    void put(am_block& done) noexcept;

    // Whether a program may see data there.
    [[nodiscard]] bool is_aligned(const void* data) const noexcept {
        return (reinterpret_cast<std::uintptr_t>(data) & (wanted_ - 1)) == 0;
    }

private:
    static constexpr std::size_t small = 1024;  // bytes of blocks that are kept for the next
    static constexpr std::size_t most_spare = 64;

    // Bytes of an allocation.
    [[nodiscard]] std::size_t bytes_for(std::size_t capacity) const noexcept {
        return sizeof(am_block) + alignment_ + capacity;
    }
    am_block* make(std::size_t capacity) noexcept;
    static void free(am_block& done) noexcept;

    const std::size_t wanted_;
    const std::size_t alignment_;  // of blocks
    ucs::datastruct::auto_list<am_block, &am_block::kept_hook> spare_;
    std::size_t spare_count_ = 0;
};

}  // namespace ucp
