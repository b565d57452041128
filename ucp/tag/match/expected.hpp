// Queue of posted receives that wait for their message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ucp/tag/match/fifo_table.hpp"
#include "ucp/tag/match/posting_order.hpp"

namespace ucp::tag {

// Part of a receive request. The poster fills in tag and mask; they must not change while the entry
// is queued.
struct expected_entry {
    std::uint64_t tag = 0;
    std::uint64_t mask = 0;
    std::uint64_t sequence = 0;  // order of posting, set by add
    fifo_links<expected_entry> links{};
};
static_assert(sizeof(expected_entry) <= 48);

// Finds the earliest posted receive for a message. A single receive is compared directly. Several
// receives are kept in one hash table per mask in use, and a message is looked up in each table. So
// the cost grows with the number of different masks that are posted at the same time (one to four
// in MPI programs), not with the number of receives. Owns no entry; owner context.
class expected_queue {
public:
    expected_queue() noexcept = default;
    expected_queue(const expected_queue&) = delete;
    expected_queue& operator=(const expected_queue&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return posted_ - gone_; }
    [[nodiscard]] bool empty() const noexcept { return posted_ == gone_; }

    // The first few masks and their first receives need no memory. A table that grows, and each
    // mask beyond `resident`, allocates once. If an allocation fails, receives are found more
    // slowly.
    void add(expected_entry& entry) noexcept {
        const bool alone = empty();
        entry.sequence = posted_++;
        if (alone) {
            lone_ = &entry;
        } else {
            add_to_tables(entry);
            order_.note(entry.sequence, &entry, size());
        }
    }

    // Removes and returns the earliest posted entry with (entry.tag & entry.mask) == (tag &
    // entry.mask), or returns nullptr.
    [[nodiscard]] expected_entry* match(std::uint64_t tag) noexcept {
        expected_entry* const entry = lone_;
        if (entry == nullptr) return empty() ? nullptr : match_in_tables(tag);
        if (((entry->tag ^ tag) & entry->mask) != 0) return nullptr;
        lone_ = nullptr;
        ++gone_;
        return entry;
    }

    // Removes a queued entry.
    void remove(expected_entry& entry) noexcept;

    // Calls f(entry) for every entry in no particular order; f must not change the queue.
    template<class Function>
    void for_each(Function f) const {
        if (lone_ != nullptr) f(*lone_);
        for (std::size_t i = 0; i < used_; ++i)
            at(i).for_each(f);
        for (expected_entry* entry = loose_; entry != nullptr;)
            f(*std::exchange(entry, entry->links.newer));
    }

    // Removes all entries, then passes each to f, which may destroy the entry but must not use the
    // queue.
    template<class Function>
    void clear(Function f) {
        gone_ = posted_;
        if (expected_entry* entry = std::exchange(lone_, nullptr)) f(*entry);
        for (expected_entry* entry = std::exchange(loose_, nullptr); entry != nullptr;)
            f(*std::exchange(entry, entry->links.newer));
        for (std::size_t i = 0; i < used_; ++i) {
            at(i).for_each(f);
            at(i).clear();
        }
    }

private:
    using table = fifo_table<expected_entry>;
    static constexpr std::size_t resident = 8;

    table& at(std::size_t i) noexcept { return i < resident ? resident_[i] : *more_[i - resident]; }
    const table& at(std::size_t i) const noexcept {
        return i < resident ? resident_[i] : *more_[i - resident];
    }
    table& table_of(std::uint64_t mask) noexcept;
    bool select(std::uint64_t mask) noexcept;
    void add_loose(expected_entry& entry) noexcept;
    expected_entry** find_loose(std::uint64_t tag) noexcept;
    bool remove_loose(expected_entry& entry) noexcept;
    void add_to_tables(expected_entry& entry) noexcept;
    void prepare_tables(expected_entry& entry) noexcept;
    expected_entry* match_in_tables(std::uint64_t tag) noexcept;
    expected_entry* match_any(std::uint64_t tag) noexcept;
    void trim() noexcept;

    expected_entry* lone_ = nullptr;  // the only entry, when it is in no table
    std::uint64_t posted_ = 0;
    std::uint64_t gone_ = 0;
    // Tables [0, used_) may hold entries, each mask in one table at most. `last_` is one of them.
    table* last_ = resident_;
    std::size_t used_ = 1;
    table resident_[resident];
    std::vector<std::unique_ptr<table>> more_;
    posting_order order_;
    // Entries for whose table there was no memory, oldest first, linked by links.newer. While the
    // list is not empty, used_ is at least 2.
    expected_entry* loose_ = nullptr;
};

}  // namespace ucp::tag
