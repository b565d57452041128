// A set of registered memory ranges, searchable by address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ucs/datastruct/intrusive.hpp"

namespace ucs::memory {

// Addresses from begin up to end.
struct address_range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
    [[nodiscard]] bool contains(const address_range& other) const noexcept {
        return begin <= other.begin && other.end <= end;
    }
    [[nodiscard]] bool overlaps(const address_range& other) const noexcept {
        return begin < other.end && other.begin < end;
    }
    [[nodiscard]] address_range together_with(const address_range& other) const noexcept {
        return {begin < other.begin ? begin : other.begin, end > other.end ? end : other.end};
    }
};

// One registration. Owned by the cache that made it.
struct region {
    // The hooks have no safety checks, because the child of a fork abandons its regions while they
    // are linked.
    using tree_hook =
        datastruct::bi::set_member_hook<datastruct::bi::link_mode<datastruct::bi::normal_link>,
                                        datastruct::bi::optimize_size<true>>;
    using list_hook =
        datastruct::bi::list_member_hook<datastruct::bi::link_mode<datastruct::bi::normal_link>>;

    address_range range;
    address_range requested;  // the part that the caller requested
    void* handle = nullptr;
    std::uint64_t process = 0;  // counts forks
    unsigned access = 0;
    unsigned users = 0;
    bool is_cached = false;          // in the set
    bool range_is_unmapped = false;  // part of it was unmapped during the registration
    bool requested_is_unmapped = false;
    tree_hook by_address;
    list_hook in_list;  // in the list of unused regions, or in another list of the cache
};

using region_list =
    datastruct::bi::list<region,
                         datastruct::bi::member_hook<region, region::list_hook, &region::in_list>,
                         datastruct::bi::constant_time_size<false>>;

// A set of regions that do not overlap, with a list of the unused ones in the order of their last
// use. Allocates nothing, owns nothing, has no lock: the cache's lock protects it.
class region_set {
public:
    // Returns the region that covers the range with all of the access, or nullptr. Checks the
    // region that was found last before it searches the tree.
    [[nodiscard]] region* find(const address_range& range, unsigned access) noexcept {
        if (last_found_ != nullptr && serves(*last_found_, range, access)) return last_found_;
        return search(range, access);
    }

    // Returns the first region that overlaps the range, or nullptr.
    [[nodiscard]] region* first_overlapping(const address_range& range) noexcept;

    // Adds a region, which must not overlap another one.
    void insert(region& added) noexcept;
    void remove(region& removed) noexcept;

    void add_user(region& used) noexcept {
        if (used.users++ == 0) unused_.erase(region_list::s_iterator_to(used));
    }
    void remove_user(region& used) noexcept {
        if (--used.users == 0) unused_.push_back(used);
    }

    // Returns the least recently used region without users, or nullptr.
    [[nodiscard]] region* oldest_unused() noexcept {
        return unused_.empty() ? nullptr : &unused_.front();
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    // Calls visit(const region&) in the order of addresses.
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (const region& one : by_address_)
            visit(one);
    }

private:
    struct begin_of {
        using type = std::uintptr_t;
        type operator()(const region& one) const noexcept { return one.range.begin; }
    };
    using tree = datastruct::bi::set<
        region, datastruct::bi::member_hook<region, region::tree_hook, &region::by_address>,
        datastruct::bi::key_of_value<begin_of>, datastruct::bi::constant_time_size<false>>;

    static bool serves(const region& one, const address_range& range, unsigned access) noexcept {
        return one.range.contains(range) && (access & ~one.access) == 0;
    }
    region* search(const address_range& range, unsigned access) noexcept;

    tree by_address_;
    region_list unused_;
    region* last_found_ = nullptr;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace ucs::memory
