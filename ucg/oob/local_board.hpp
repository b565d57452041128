// The memory of make_local.
#pragma once

#include <atomic>
#include <span>

#include "ucg/oob/rank_list.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// What one rank shows to the others. The words are written by it alone.
struct alignas(64) local_note {
    static constexpr std::size_t most_bytes = 4096;
    static constexpr std::uint32_t has_left = 1;  // a status

    std::atomic<std::uint64_t> given{0};   // pieces it has put into `piece`
    std::atomic<std::uint64_t> taken{0};   // pieces of which it has those of all ranks
    std::atomic<std::uint64_t> whole{0};   // bytes of its block in this round
    std::atomic<std::uint32_t> pid{0};     // 0: never here
    std::atomic<std::uint32_t> status{0};  // 0: lives; has_left; else -status: failed
    std::byte piece[most_bytes];

    // Returns how a rank with this status has failed; UCS_OK: it has not. Its process may have
    // written anything, so only what is a failure is negated.
    [[nodiscard]] static constexpr ucs_status_t failure_in(std::uint32_t status) noexcept {
        const bool failed = status > has_left && status < static_cast<std::uint32_t>(-UCS_ERR_LAST);
        return failed ? static_cast<ucs_status_t>(-static_cast<int>(status)) : UCS_OK;
    }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// What one rank has published: records, appended by it alone. Pages that nobody uses take no
// memory.
struct alignas(64) local_shelf {
    // Of a block that other numbers may have as well: it counts until the next record's.
    struct record {
        std::uint64_t number;
        std::uint64_t bytes;  // of the block, which follows, up to a multiple of 8
    };
    static constexpr std::size_t room = 128 * 1024 - 64;

    std::atomic<std::uint64_t> used{0};  // bytes of whole records
    alignas(64) std::byte records[room];

    // False: it is full.
    [[nodiscard]] bool add(std::uint64_t number, std::span<const std::byte> block) noexcept;
    // Empty: nothing has this number. From another process, so it is checked.
    [[nodiscard]] std::span<const std::byte> find(std::uint64_t number) const noexcept;
};

// Notes of all ranks. A rank that is here holds a lock of its process on the byte of its number:
// the kernel opens it when the process dies, also before anybody has waited for the process. Shared
// by the objects of one process. Any thread.
class local_board {
public:
    static ucs::result<local_board> make(rank_t size);

    [[nodiscard]] rank_t size() const noexcept { return size_; }
    [[nodiscard]] local_note& of(rank_t rank) const noexcept {
        return reinterpret_cast<local_note*>(memory_.data())[rank];
    }
    [[nodiscard]] local_shelf& shelf_of(rank_t rank) const noexcept {
        return reinterpret_cast<local_shelf*>(memory_.data() + size_ * sizeof(local_note))[rank];
    }
    // This process is the rank from here on. UCS_ERR_ALREADY_EXISTS, UCS_ERR_IO_ERROR.
    [[nodiscard]] ucs_status_t enter(rank_t rank) const noexcept;
    // Whether it was here and its process is gone.
    [[nodiscard]] bool is_dead(rank_t rank) const noexcept;

private:
    local_board(ucs::memory::mapped memory, ucs::unique_fd locks, rank_t size) noexcept
        : memory_(std::move(memory)), locks_(std::move(locks)), size_(size) {}

    ucs::memory::mapped memory_;
    ucs::unique_fd locks_;
    rank_t size_;
};

}  // namespace ucg::oob
