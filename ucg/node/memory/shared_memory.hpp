// The memory that the ranks of one node share.
#pragma once

#include <atomic>
#include <memory>

#include "ucg/node/memory/layout.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/sys/process_file.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::node {

// Access to words in shared memory. A value that came from another rank may be anything: read it
// once, check it, then use it.
[[nodiscard]] inline std::uint64_t load_relaxed(std::uint64_t& word) noexcept {
    return std::atomic_ref(word).load(std::memory_order_relaxed);
}
// A rank whose load_acquire() sees a value also sees all writes before the store_release() of that
// value.
[[nodiscard]] inline std::uint64_t load_acquire(std::uint64_t& word) noexcept {
    return std::atomic_ref(word).load(std::memory_order_acquire);
}
inline void store_release(std::uint64_t& word, std::uint64_t value) noexcept {
    std::atomic_ref(word).store(value, std::memory_order_release);
}
inline void store_relaxed(std::uint64_t& word, std::uint64_t value) noexcept {
    std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

// One layout in a mapping that all copies of the same file share. Owned by the group; outlives its
// engine and its fabric. Any thread.
class shared_memory {
public:
    shared_memory() noexcept = default;

    // Makes a memory file with room for `copies` layouts, with its header written. One rank of the
    // group makes it and passes it to the others, which open it by the tag in its name. Pages take
    // up memory only when they are written. Returns UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY, or
    // UCS_ERR_EXCEEDS_LIMIT if the remaining descriptors are reserved for the program or files may
    // not be that long.
    [[nodiscard]] static ucs::result<ucs::unique_fd> make(const geometry& layout,
                                                          std::uint64_t tag = 0,
                                                          std::uint32_t copies = 1);

    // Opens a file that another process has open. Its tag is checked before it is opened. Returns
    // UCS_ERR_SHMEM_SEGMENT or UCS_ERR_EXCEEDS_LIMIT as above, with a line in the log.
    [[nodiscard]] static ucs::result<ucs::unique_fd> open(const ucs::sys::process_file& path);

    // Maps a file that another rank made, and returns the first copy. Its size and header must be
    // the expected ones. Maps only the first copy if there is no room for all.
    // UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY. Throws std::bad_alloc.
    [[nodiscard]] static ucs::result<shared_memory> attach(int fd, const geometry& layout,
                                                           std::uint32_t copies = 1);

    // Returns how many copies are mapped.
    [[nodiscard]] std::uint32_t copies() const noexcept {
        return static_cast<std::uint32_t>(memory_->size() / layout_.bytes());
    }
    // Returns copy `number` of the file, which must be below copies(). Call it on the first copy
    // only.
    [[nodiscard]] shared_memory copy(std::uint32_t number) const noexcept {
        return {memory_, layout_, base_ + std::size_t{number} * layout_.bytes()};
    }

    [[nodiscard]] explicit operator bool() const noexcept { return base_ != nullptr; }

    [[nodiscard]] const geometry& layout() const noexcept { return layout_; }
    [[nodiscard]] rank_t ranks() const noexcept { return layout_.ranks; }

    [[nodiscard]] control& control_of(rank_t rank) const noexcept {
        return *reinterpret_cast<control*>(base_ + layout_.control_at(rank));
    }
    [[nodiscard]] mailbox_head& mailbox(rank_t rank, std::uint64_t number) const noexcept {
        return *reinterpret_cast<mailbox_head*>(mailbox_address(rank, number));
    }
    [[nodiscard]] std::byte* mailbox_content(rank_t rank, std::uint64_t number) const noexcept {
        return mailbox_address(rank, number) + sizeof(mailbox_head);
    }
    [[nodiscard]] std::byte* slot(rank_t rank, std::uint64_t number) const noexcept {
        return base_ + layout_.slot_at(rank, number);
    }
    [[nodiscard]] ring_control& ring(rank_t from, rank_t to) const noexcept {
        return *reinterpret_cast<ring_control*>(base_ + layout_.ring_at(from, to));
    }
    [[nodiscard]] std::byte* ring_content(rank_t from, rank_t to) const noexcept {
        return base_ + layout_.ring_at(from, to) + sizeof(ring_control);
    }
    // Prefers the NUMA node of this process for the memory that `rank`, which is its own, writes:
    // its mailboxes and slots. (A slot has many readers. The counters of several ranks share a
    // page.)
    void place(rank_t rank) const noexcept;
    // Tells the other ranks that this rank takes part in no operation, because it could not make
    // the group.
    void decline(rank_t rank, ucs_status_t why) const noexcept;
    [[nodiscard]] std::uint32_t& sleepers() const noexcept {
        return reinterpret_cast<header*>(base_)->sleepers;
    }

private:
    shared_memory(std::shared_ptr<const ucs::memory::mapped> memory, const geometry& layout,
                  std::byte* base) noexcept
        : memory_(std::move(memory)),
          layout_(layout),
          base_(base),
          mailboxes_(base_ + layout.mailbox_at(0, 0)),
          mailbox_stride_(layout.mailbox_stride()) {}

    // The same as geometry::mailbox_at, without summing the offsets each time: short operations are
    // measurably faster.
    [[nodiscard]] std::byte* mailbox_address(rank_t rank, std::uint64_t number) const noexcept {
        const std::uint64_t box = number & (layout_.mailboxes - 1);
        return mailboxes_ + (std::size_t{rank} * layout_.mailboxes + box) * mailbox_stride_;
    }

    std::shared_ptr<const ucs::memory::mapped> memory_;
    geometry layout_;
    std::byte* base_ = nullptr;
    std::byte* mailboxes_ = nullptr;
    std::size_t mailbox_stride_ = 0;
};

}  // namespace ucg::node
