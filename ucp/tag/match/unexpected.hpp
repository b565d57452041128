// Queue of messages that arrived before their receive was posted (unexpected messages).
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>

#include "ucp/tag/match/fifo_table.hpp"
#include "ucp/tag/match/mask_indexes.hpp"

namespace ucp::tag {

// Part of a stored message. The matcher fills in the tag when it stores the message.
struct unexpected_entry {
    std::uint64_t tag = 0;
    fifo_links<unexpected_entry> links{};
    mask_node* nodes = nullptr;  // nodes of this entry in the indexes of further masks
    boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::link_mode_type::normal_link>>
        arrival_hook{};
};
static_assert(sizeof(unexpected_entry) <= 64);

// Finds the earliest arrived message for a receive. All messages are in one list by arrival. If
// there are several, they are also in one hash table, whose mask is the most specific one that
// receives use. Receives with other masks walk the list; a mask that repeatedly walks a long list
// gets its own index. Owns no entry; owner context.
class unexpected_queue {
public:
    unexpected_queue() noexcept = default;
    unexpected_queue(const unexpected_queue&) = delete;
    unexpected_queue& operator=(const unexpected_queue&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    // Allocates only when the table grows, or when a mask has its own index.
    void add(unexpected_entry& entry) noexcept {
        arrivals_.push_back(entry);
        if (size_++ == 0) {
            lone_ = &entry;
        } else {
            add_to_tables(entry);
        }
    }

    // Returns the earliest arrived entry with (entry.tag & mask) == (tag & mask), or nullptr. The
    // entry stays queued.
    [[nodiscard]] unexpected_entry* find(std::uint64_t tag, std::uint64_t mask) const noexcept {
        if (size_ == 0) return nullptr;
        if (lone_ != nullptr) return ((lone_->tag ^ tag) & mask) == 0 ? lone_ : nullptr;
        if (mask == table_.mask()) return *table_.find(tag);
        return find_other(tag, mask);
    }

    // Removes a queued entry.
    void remove(unexpected_entry& entry) noexcept {
        --size_;
        arrivals_.erase(arrivals_.iterator_to(entry));
        if (lone_ != nullptr) {
            lone_ = nullptr;
            return;
        }
        table_.remove(entry);
        if (entry.nodes != nullptr) [[unlikely]]
            indexes_.remove(entry);
    }

    // Calls f(entry) for every entry in order of arrival; f may remove its own entry and no other.
    template<class Function>
    void for_each(Function f) {
        for (auto next = arrivals_.begin(); next != arrivals_.end();)
            f(*next++);
    }

    // Like for_each, until f returns false.
    template<class Function>
    void for_each_while(Function f) {
        for (auto next = arrivals_.begin(); next != arrivals_.end();)
            if (!f(*next++)) return;
    }

    // Returns the number of masks that have their own index at present.
    [[nodiscard]] std::size_t index_count() const noexcept { return indexes_.count(); }

private:
    using arrival_list = boost::intrusive::list<
        unexpected_entry,
        boost::intrusive::member_hook<unexpected_entry, decltype(unexpected_entry::arrival_hook),
                                      &unexpected_entry::arrival_hook>,
        boost::intrusive::constant_time_size<false>>;

    void add_to_tables(unexpected_entry& entry) noexcept;
    unexpected_entry* find_other(std::uint64_t tag, std::uint64_t mask) const noexcept;
    struct found {
        unexpected_entry* entry;
        std::size_t steps;
    };
    found walk_all(std::uint64_t tag, std::uint64_t mask) const noexcept;
    found walk_key(std::uint64_t tag, std::uint64_t mask) const noexcept;
    void build_index(std::uint64_t mask) const noexcept;

    std::size_t size_ = 0;
    unexpected_entry* lone_ = nullptr;  // the only entry, when it is in no table
    fifo_table<unexpected_entry> table_;
    mutable arrival_list arrivals_;
    // State that lookups adapt. No lookup changes which entry another lookup finds.
    mutable std::uint64_t specific_ = ~std::uint64_t{0};
    mutable int specific_bits_ = 0;
    mutable mask_indexes indexes_;
};

}  // namespace ucp::tag
