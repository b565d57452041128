// The board: shared memory in which the ranks of make_local() exchange blocks.
#pragma once

#include <atomic>
#include <span>

#include "ucg/oob/rank_list.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// The state of one rank, which all ranks read and only this rank writes.
struct alignas(64) local_rank_state {
    static constexpr std::size_t max_bytes = 4096;
    static constexpr std::uint32_t has_left = 1;  // a value of `status`

    std::atomic<std::uint64_t> pieces_written{0};  // number of pieces written to `piece`
    std::atomic<std::uint64_t> pieces_read{0};     // number of pieces read from all ranks
    std::atomic<std::uint64_t> block_bytes{0};     // bytes of the rank's block in this round
    std::atomic<std::uint32_t> pid{0};             // 0: the rank never arrived
    std::atomic<std::uint32_t> status{0};          // 0: alive; has_left; otherwise -status: failed
    std::byte piece[max_bytes];

    // Returns the failure in a rank's status; UCS_OK: no failure. The peer process may have written
    // any value, so only valid failures are negated.
    [[nodiscard]] static constexpr ucs_status_t failure_of(std::uint32_t status) noexcept {
        const bool failed = status > has_left && status < static_cast<std::uint32_t>(-UCS_ERR_LAST);
        return failed ? static_cast<ucs_status_t>(-static_cast<int>(status)) : UCS_OK;
    }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// The publications of one rank: records that only this rank appends. Unused pages take no memory.
struct alignas(64) local_publications {
    // Precedes a block. Numbers up to that of the next record have the same block.
    struct record {
        std::uint64_t number;
        std::uint64_t bytes;  // of the block, which follows and is padded to a multiple of 8
    };
    static constexpr std::size_t capacity = 128 * 1024 - 64;

    std::atomic<std::uint64_t> used{0};  // bytes of complete records
    alignas(64) std::byte records[capacity];

    // Returns false if the memory is full.
    [[nodiscard]] bool add(std::uint64_t number, std::span<const std::byte> block) noexcept;
    // Returns an empty span if no block has this number. Validates the records, because another
    // process wrote them.
    [[nodiscard]] std::span<const std::byte> find(std::uint64_t number) const noexcept;
};

// The states and publications of all ranks. A rank that has entered holds a lock of its process on
// the byte of its number. The kernel releases the lock when the process dies, even before a parent
// has waited for it. The objects of one process share the board. Any thread.
class local_board {
public:
    static ucs::result<local_board> make(rank_t size);

    [[nodiscard]] rank_t size() const noexcept { return size_; }
    [[nodiscard]] local_rank_state& state_of(rank_t rank) const noexcept {
        return reinterpret_cast<local_rank_state*>(memory_.data())[rank];
    }
    [[nodiscard]] local_publications& publications_of(rank_t rank) const noexcept {
        return reinterpret_cast<local_publications*>(memory_.data() +
                                                     size_ * sizeof(local_rank_state))[rank];
    }
    // Makes this process the rank. UCS_ERR_ALREADY_EXISTS, UCS_ERR_IO_ERROR.
    [[nodiscard]] ucs_status_t enter(rank_t rank) const noexcept;
    // True if the rank had entered and its process has died.
    [[nodiscard]] bool is_dead(rank_t rank) const noexcept;

private:
    local_board(ucs::memory::mapped memory, ucs::unique_fd locks, rank_t size) noexcept
        : memory_(std::move(memory)), locks_(std::move(locks)), size_(size) {}

    ucs::memory::mapped memory_;
    ucs::unique_fd locks_;
    rank_t size_;
};

}  // namespace ucg::oob
