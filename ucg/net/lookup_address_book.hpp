// Address book that looks up addresses one by one.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <atomic>
#include <unordered_map>

#include "ucg/net/address_book.hpp"

namespace ucg::net {

// The addresses that the members of an out-of-band object with lookups have published under one
// number. Keeps only addresses that were wanted. The object must outlive the book.
class lookup_address_book final : public address_book {
public:
    lookup_address_book(const ucg_oob_t& oob, std::uint64_t number) noexcept
        : oob_(oob), number_(number) {}
    ~lookup_address_book() override;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    // Sets the length of the longest address. Must be called before the first find().
    void set_longest(std::size_t longest) noexcept { longest_ = longest; }

    [[nodiscard]] ucs_status_t find(schedule::rank_t rank,
                                    std::span<const std::byte>& found) noexcept override;
    [[nodiscard]] std::size_t cached_count() const noexcept override {
        return cached_count_.load(std::memory_order_relaxed);
    }
    void serve() noexcept override;
    [[nodiscard]] bool close() noexcept override;

private:
    struct lookup {
        ucs_status_t status = UCS_INPROGRESS;
        std::vector<std::byte> address;
    };
    void look_up(schedule::rank_t rank, lookup& entry);

    const ucg_oob_t oob_;
    const std::uint64_t number_;
    std::size_t longest_ = 0;
    std::atomic<std::size_t> cached_count_ = 0;
    std::unordered_map<schedule::rank_t, lookup> lookups_;  // entries never move
    bool closed_ = false;
};

}  // namespace ucg::net
