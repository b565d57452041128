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

// One entry in one index.
struct mask_node {
    std::uint64_t tag;
    fifo_links<mask_node> links;
    unexpected_entry* entry;
    mask_node* sibling;  // the same entry in another index
    mask_index* owner;
};

// All entries of an unexpected queue by (tag & mask) for one mask. Owns its nodes, in blocks that
// are given back with the index. Owner context.
class mask_index {
public:
    explicit mask_index(std::uint64_t mask) noexcept : table_(mask) {}

    [[nodiscard]] std::uint64_t mask() const noexcept { return table_.mask(); }
    [[nodiscard]] bool add(unexpected_entry& entry) noexcept;  // false: out of memory
    void release(mask_node& node) noexcept;
    [[nodiscard]] unexpected_entry* first(std::uint64_t tag) noexcept;

    // Entries added since the last lookup: what it costs to keep an index that nobody uses.
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

// The indexes of one unexpected queue, at most `limit`: made for a mask whose receives have walked
// over more entries than making it costs, dropped when many entries came and no receive used it.
// Owned by the queue; owner context.
class mask_indexes {
public:
    static constexpr std::size_t limit = 8;
    // Shorter lists are walked; so are the first steps of each lookup free of charge.
    static constexpr std::size_t long_list = 64;
    static constexpr std::size_t free_steps = 16;

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    // The entry arrived and is one of `queued`. An index that memory lacks for is dropped.
    void add(unexpected_entry& entry, std::size_t queued) noexcept;
    void remove(unexpected_entry& entry) noexcept;

    [[nodiscard]] mask_index* of(std::uint64_t mask) noexcept;

    // Notes that a lookup for `mask` walked `steps` of `queued` entries. True when an index pays.
    [[nodiscard]] bool account(std::uint64_t mask, std::size_t steps, std::size_t queued) noexcept;

    // A new index without entries, or nullptr when there is no room or no memory.
    [[nodiscard]] mask_index* make(std::uint64_t mask, std::size_t queued) noexcept;
    void drop(mask_index& which) noexcept;

private:
    struct effort {
        std::uint64_t mask = 0;
        std::size_t steps = 0;
    };

    std::size_t count_ = 0;
    std::array<std::unique_ptr<mask_index>, limit> indexes_;  // [0, count_) are there
    std::array<effort, limit> efforts_;
};

}  // namespace ucp::tag
