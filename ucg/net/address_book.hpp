// Where the ranks of a group are found.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ucg/schedule/step.hpp"
#include "ucs/type/status.h"

namespace ucg::net {

// Worker addresses of those who exchanged them, by their ranks in that exchange. Shared by the
// group that was made over it and by the groups made of its ranks, any of which may live longest.
// Owner context.
class address_book {
public:
    address_book() = default;
    address_book(const address_book&) = delete;
    address_book& operator=(const address_book&) = delete;
    virtual ~address_book() = default;

    // UCS_OK: `found` is the rank's address, for as long as the book is there. UCS_INPROGRESS: it
    // is not here yet, ask again. Else why it cannot be had, which was logged, now and later.
    [[nodiscard]] virtual ucs_status_t find(schedule::rank_t rank,
                                            std::span<const std::byte>& found) noexcept = 0;
    // How many addresses are kept here. Any thread.
    [[nodiscard]] virtual std::size_t kept() const noexcept = 0;
    // Answers others that ask this process, where it has to; called now and then.
    virtual void serve() noexcept {}
    // Nothing is asked here any more. Whether the others can do without this process; to be called
    // again until then, or until the process does not wait any longer.
    [[nodiscard]] virtual bool close() noexcept { return true; }
};

// All addresses from the beginning.
class whole_book final : public address_book {
public:
    // One after the other, each of `length` bytes, padded.
    whole_book(std::vector<std::byte> addresses, std::size_t length) noexcept
        : addresses_(std::move(addresses)), length_(length) {}

    [[nodiscard]] ucs_status_t find(schedule::rank_t rank,
                                    std::span<const std::byte>& found) noexcept override {
        found = std::span(addresses_).subspan(rank * length_, length_);
        return UCS_OK;
    }
    [[nodiscard]] std::size_t kept() const noexcept override { return addresses_.size() / length_; }

private:
    const std::vector<std::byte> addresses_;
    const std::size_t length_;
};

// The ranks of one group in a book. Value semantics.
class contacts {
public:
    // Of nobody.
    contacts() = default;
    // Of all that the book has, which are so many.
    contacts(std::shared_ptr<address_book> book, schedule::rank_t size) noexcept
        : book_(std::move(book)), size_(size) {}

    explicit operator bool() const noexcept { return book_ != nullptr; }
    [[nodiscard]] schedule::rank_t size() const noexcept { return size_; }
    [[nodiscard]] const std::shared_ptr<address_book>& book() const noexcept { return book_; }

    // As address_book::find, by the ranks of the group.
    [[nodiscard]] ucs_status_t find(schedule::rank_t rank,
                                    std::span<const std::byte>& found) const noexcept {
        return book_->find(places_.empty() ? rank : places_[rank], found);
    }

    // Of some of these ranks, which are numbered in this order. std::bad_alloc.
    [[nodiscard]] contacts of(std::span<const schedule::rank_t> members) const {
        contacts made(book_, static_cast<schedule::rank_t>(members.size()));
        bool same = made.size_ == size_;
        for (schedule::rank_t i = 0; same && i < made.size_; ++i)
            same = members[i] == i;
        if (same) return *this;
        made.places_.reserve(members.size());
        for (const schedule::rank_t each : members)
            made.places_.push_back(places_.empty() ? each : places_[each]);
        return made;
    }

private:
    std::shared_ptr<address_book> book_;
    std::vector<schedule::rank_t> places_;  // in the book; empty: as here
    schedule::rank_t size_ = 0;
};

}  // namespace ucg::net
