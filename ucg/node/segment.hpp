// The memory that the ranks of one node share.
#pragma once

#include <atomic>
#include <memory>

#include "ucg/node/layout.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/sys/process_file.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::node {

// Words in shared memory. A value that came from another rank may be anything: read it once, check
// it, then use it.
[[nodiscard]] inline std::uint64_t peek(std::uint64_t& word) noexcept {
    return std::atomic_ref(word).load(std::memory_order_relaxed);
}
// Everything that the writer did before tell() is seen after look() saw its value.
[[nodiscard]] inline std::uint64_t look(std::uint64_t& word) noexcept {
    return std::atomic_ref(word).load(std::memory_order_acquire);
}
inline void tell(std::uint64_t& word, std::uint64_t value) noexcept {
    std::atomic_ref(word).store(value, std::memory_order_release);
}
inline void write(std::uint64_t& word, std::uint64_t value) noexcept {
    std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

// One layout in a mapping that all copies of the same file share. Owned by the group, and outlives
// its engine and its fabric. Any thread.
class segment {
public:
    segment() noexcept = default;

    // Makes a memory file with room for `copies` layouts and its header written, for one rank of
    // the group to make and pass to the others, who open it by a tag that is part of its name.
    // Memory is used only where something is written. UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY;
    // UCS_ERR_EXCEEDS_LIMIT: the descriptors that are left are the program's, or files may not be
    // that long.
    [[nodiscard]] static ucs::result<ucs::unique_fd> make(const geometry& like,
                                                          std::uint64_t tag = 0,
                                                          std::uint32_t copies = 1);

    // Opens one that another process has open, and only that one: its tag is checked before it is
    // opened. UCS_ERR_SHMEM_SEGMENT, UCS_ERR_EXCEEDS_LIMIT as above; with a line in the log.
    [[nodiscard]] static ucs::result<ucs::unique_fd> open(const ucs::sys::process_file& which);

    // Maps one that somebody else made, and returns the first copy. Its size and its header are
    // checked against what is expected here. Only the first copy is mapped if there is no room for
    // all. UCS_ERR_INVALID_PARAM, UCS_ERR_NO_MEMORY. std::bad_alloc.
    [[nodiscard]] static ucs::result<segment> attach(int fd, const geometry& like,
                                                     std::uint32_t copies = 1);

    // Returns how many copies are mapped.
    [[nodiscard]] std::uint32_t copies() const noexcept {
        return static_cast<std::uint32_t>(memory_->size() / like_.bytes());
    }
    // Returns another copy, by its number in the file, which is below copies(). First copy only.
    [[nodiscard]] segment copy(std::uint32_t number) const noexcept {
        return {memory_, like_, base_ + std::size_t{number} * like_.bytes()};
    }

    [[nodiscard]] explicit operator bool() const noexcept { return base_ != nullptr; }

    [[nodiscard]] const geometry& like() const noexcept { return like_; }
    [[nodiscard]] rank_t ranks() const noexcept { return like_.ranks; }

    [[nodiscard]] control& control_of(rank_t rank) const noexcept {
        return *reinterpret_cast<control*>(base_ + like_.control_at(rank));
    }
    [[nodiscard]] mailbox_head& mailbox(rank_t rank, std::uint64_t number) const noexcept {
        return *reinterpret_cast<mailbox_head*>(mailbox_place(rank, number));
    }
    [[nodiscard]] std::byte* mailbox_content(rank_t rank, std::uint64_t number) const noexcept {
        return mailbox_place(rank, number) + sizeof(mailbox_head);
    }
    [[nodiscard]] std::byte* slot(rank_t rank, std::uint64_t number) const noexcept {
        return base_ + like_.slot_at(rank, number);
    }
    [[nodiscard]] ring_control& ring(rank_t from, rank_t to) const noexcept {
        return *reinterpret_cast<ring_control*>(base_ + like_.ring_at(from, to));
    }
    [[nodiscard]] std::byte* ring_content(rank_t from, rank_t to) const noexcept {
        return base_ + like_.ring_at(from, to) + sizeof(ring_control);
    }
    // Tells the other ranks that this one takes part in no operation, for it has no group here.
    void decline(rank_t rank, ucs_status_t why) const noexcept;
    [[nodiscard]] std::uint32_t& sleepers() const noexcept {
        return reinterpret_cast<header*>(base_)->sleepers;
    }

private:
    segment(std::shared_ptr<const ucs::memory::mapped> memory, const geometry& like,
            std::byte* base) noexcept
        : memory_(std::move(memory)),
          like_(like),
          base_(base),
          mailboxes_(base_ + like.mailbox_at(0, 0)),
          mailbox_stride_(like.mailbox_stride()) {}

    // As geometry::mailbox_at, without adding up what lies before: short operations feel it.
    [[nodiscard]] std::byte* mailbox_place(rank_t rank, std::uint64_t number) const noexcept {
        const std::uint64_t box = number & (like_.mailboxes - 1);
        return mailboxes_ + (std::size_t{rank} * like_.mailboxes + box) * mailbox_stride_;
    }

    std::shared_ptr<const ucs::memory::mapped> memory_;
    geometry like_;
    std::byte* base_ = nullptr;
    std::byte* mailboxes_ = nullptr;
    std::size_t mailbox_stride_ = 0;
};

}  // namespace ucg::node
