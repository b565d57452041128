// Addresses of the ranks of a group.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::net {

// Worker addresses of the ranks that exchanged them, by their ranks in that exchange. Shared by the
// group that was made with it and by the groups made of its ranks; any of them may live longest.
// Owner context.
class address_book {
public:
    address_book() = default;
    address_book(const address_book&) = delete;
    address_book& operator=(const address_book&) = delete;
    virtual ~address_book() = default;

    // Returns UCS_OK if `found` is the rank's address, valid for as long as the book;
    // UCS_INPROGRESS if the address is not known yet and the caller must ask again; or why the
    // address cannot be found, which was logged. An error is permanent.
    [[nodiscard]] virtual ucs_status_t find(schedule::rank_t rank,
                                            std::span<const std::byte>& found) noexcept = 0;
    // Returns how many addresses this process keeps. Any thread.
    [[nodiscard]] virtual std::size_t cached_count() const noexcept = 0;
    // Answers lookups of other processes if this one has to. Called from time to time.
    virtual void serve() noexcept {}
    // This process looks up nothing more. Returns whether the others can do without it. The caller
    // calls it again until then, or until it stops waiting.
    [[nodiscard]] virtual bool close() noexcept { return true; }
};

// Address book that has all addresses from the beginning.
class full_address_book final : public address_book {
public:
    // `addresses`: one after the other, each padded to `length` bytes.
    full_address_book(std::vector<std::byte> addresses, std::size_t length) noexcept
        : addresses_(std::move(addresses)), length_(length) {}

    [[nodiscard]] ucs_status_t find(schedule::rank_t rank,
                                    std::span<const std::byte>& found) noexcept override {
        found = std::span(addresses_).subspan(rank * length_, length_);
        return UCS_OK;
    }
    [[nodiscard]] std::size_t cached_count() const noexcept override {
        return addresses_.size() / length_;
    }

private:
    const std::vector<std::byte> addresses_;
    const std::size_t length_;
};

// The addresses of one group's ranks in a book. Value semantics.
class member_addresses {
public:
    // No ranks.
    member_addresses() = default;
    // All ranks of the book; there are `size`.
    member_addresses(std::shared_ptr<address_book> book, schedule::rank_t size) noexcept
        : book_(std::move(book)), size_(size) {}

    explicit operator bool() const noexcept { return book_ != nullptr; }
    [[nodiscard]] schedule::rank_t size() const noexcept { return size_; }
    [[nodiscard]] const std::shared_ptr<address_book>& book() const noexcept { return book_; }

    // The same as address_book::find, by the ranks of the group.
    [[nodiscard]] ucs_status_t find(schedule::rank_t rank,
                                    std::span<const std::byte>& found) const noexcept {
        return book_->find(book_ranks_.empty() ? rank : book_ranks_[rank], found);
    }

    // Returns the addresses of some of these ranks, which become ranks 0, 1, ... in this order.
    // Throws std::bad_alloc.
    [[nodiscard]] member_addresses subset(std::span<const schedule::rank_t> members) const {
        member_addresses subset(book_, static_cast<schedule::rank_t>(members.size()));
        bool same = subset.size_ == size_;
        for (schedule::rank_t i = 0; same && i < subset.size_; ++i)
            same = members[i] == i;
        if (same) return *this;
        subset.book_ranks_.reserve(members.size());
        for (const schedule::rank_t each : members)
            subset.book_ranks_.push_back(book_ranks_.empty() ? each : book_ranks_[each]);
        return subset;
    }

private:
    std::shared_ptr<address_book> book_;
    std::vector<schedule::rank_t>
        book_ranks_;  // ranks in the book; empty: the same as in the group
    schedule::rank_t size_ = 0;
};

}  // namespace ucg::net
