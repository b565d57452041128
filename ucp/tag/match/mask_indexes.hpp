// Indexes of stored messages for receive masks other than the most specific one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucp/tag/match/fifo_table.hpp"

namespace ucp::tag {

struct unexpected_entry;
class mask_index;

// Node of one entry in one index.
struct mask_node {
    std::uint64_t tag;
    fifo_links<mask_node> links;
    unexpected_entry* entry;
    mask_node* sibling;  // node of the same entry in another index
    mask_index* owner;
};

// Index of all entries of an unexpected queue by (tag & mask) for one mask. Owns its nodes, in
// blocks that are freed with the index. Owner context.
class mask_index {
public:
    explicit mask_index(std::uint64_t mask) noexcept : table_(mask) {}

    [[nodiscard]] std::uint64_t mask() const noexcept { return table_.mask(); }
    [[nodiscard]] bool add(unexpected_entry& entry) noexcept;  // false: out of memory
    void release(mask_node& node) noexcept;
    [[nodiscard]] unexpected_entry* first(std::uint64_t tag) noexcept;

    // Returns the number of entries added since the last lookup: the cost of keeping an unused
    // index.
    [[nodiscard]] std::size_t idle() const noexcept { return idle_; }

    template<class Function>
    void for_each(Function f) const {
        table_.for_each(f);
    }

private:
    bool refill() noexcept;

    fifo_table<mask_node> table_;
    std::size_t idle_ = 0;
    mask_node* free_ = nullptr;  // by `sibling`
    std::vector<std::unique_ptr<mask_node[]>> blocks_;
};

// The indexes of one unexpected queue, at most `limit`. An index is made for a mask whose receives
// have walked over more entries than making it costs. It is dropped when many entries arrived and
// no receive used it. Owned by the queue; owner context.
class mask_indexes {
public:
    static constexpr std::size_t limit = 8;
    // Shorter lists are walked without an index. The first steps of each lookup do not count.
    static constexpr std::size_t long_list = 64;
    static constexpr std::size_t free_steps = 16;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    // Adds an arrived entry, one of `queued`. Drops an index that has no memory for the entry.
    void add(unexpected_entry& entry, std::size_t queued) noexcept;
    void remove(unexpected_entry& entry) noexcept;

    [[nodiscard]] mask_index* find(std::uint64_t mask) noexcept;

    // Records that a lookup for `mask` walked `steps` of `queued` entries. Returns true if an index
    // is worthwhile.
    [[nodiscard]] bool account(std::uint64_t mask, std::size_t steps, std::size_t queued) noexcept;

    // Returns a new index without entries, or nullptr if all indexes are in use or there is no
    // memory.
    [[nodiscard]] mask_index* make(std::uint64_t mask, std::size_t queued) noexcept;
    void drop(mask_index& index) noexcept;

private:
    struct effort {
        std::uint64_t mask = 0;
        std::size_t steps = 0;
    };

    std::size_t count_ = 0;
    std::array<std::unique_ptr<mask_index>, limit> indexes_;  // [0, count_) are set
    std::array<effort, limit> efforts_;
};

}  // namespace ucp::tag
