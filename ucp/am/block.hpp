// Memory block for an active message that a program may keep.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucp/am/wire.hpp"
#include "ucp/rndv/rts.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/type/status.h"

namespace ucp {

class peer;

// The block lies directly before the data, so that the program's data pointer leads to it. After an
// RTS there is no data yet, and the block is the descriptor that the program gets. Owned by the
// pool; while the program has the block, it is in the receiver's list. Owner context.
struct alignas(16) am_block : unexpected_rts {
    enum class use : std::uint8_t {
        in_handler,  // the handler is running
        kept,        // the program keeps it, to receive or release it later
        returned,    // the program returned it while the handler was running
    };

    std::size_t length = 0;  // of the data, in bytes
    std::uint64_t from = 0;  // id of our endpoint to the sender; 0: not needed
    rts_info rts;            // request 0: the data is here
    wire::am_fields fields{};
    use state = use::in_handler;
    ucs_status_t lost_status = UCS_OK;  // set if the sender of the RTS is gone
    bool recycled = false;              // returns to the pool's spare blocks
    std::uint32_t shift = 0;            // offset of the block in its allocation
    peer* sender = nullptr;     // referenced; its share counts the block until all data is here
    std::uint64_t charged = 0;  // bytes counted in that share
    ucs::datastruct::auto_unlink_hook kept_hook;

    [[nodiscard]] bool is_rendezvous() const noexcept { return rts.request != 0; }
    [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    // The program's header, kept behind the data while the rest of the message is awaited.
    [[nodiscard]] std::byte* header() noexcept { return data() + wire::padded_length(length); }
    static am_block& from_data(void* data) noexcept { return *(static_cast<am_block*>(data) - 1); }
};
static_assert(sizeof(am_block) % 16 == 0);  // the block's alignment also aligns the data

// Makes and recycles blocks. Owned by a worker; owner context.
class am_block_pool {
public:
    // `alignment` of the data that programs see is a power of two.
    explicit am_block_pool(std::size_t alignment) noexcept;
    ~am_block_pool();
    am_block_pool(const am_block_pool&) = delete;
    am_block_pool& operator=(const am_block_pool&) = delete;

    // Returns the bytes of memory of a block for this data length and header length.
    [[nodiscard]] std::uint64_t cost_of(std::size_t length,
                                        std::size_t header_length) const noexcept;
    // Returns a block with capacity for data and, behind it, a header. Returns nullptr if there is
    // no memory.
    [[nodiscard]] am_block* get(std::size_t length, std::size_t header_length = 0) noexcept;
    void put(am_block& done) noexcept;

    // Returns true if a program may get data at this address.
    [[nodiscard]] bool is_aligned(const void* data) const noexcept {
        return (reinterpret_cast<std::uintptr_t>(data) & (wanted_ - 1)) == 0;
    }

private:
    static constexpr std::size_t small = 1024;  // capacity of blocks that are recycled, in bytes
    static constexpr std::size_t most_spare = 64;

    // Returns the size of an allocation in bytes.
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
