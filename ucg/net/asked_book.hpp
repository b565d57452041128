// Addresses that are asked for one by one.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <atomic>
#include <unordered_map>

#include "ucg/net/address_book.hpp"

namespace ucg::net {

// What the members of an out-of-band object with lookups published under one number. Only addresses
// that somebody wanted are kept. The object outlives the book.
class asked_book final : public address_book {
public:
    asked_book(const ucg_oob_t& over, std::uint64_t number) noexcept
        : over_(over), number_(number) {}
    ~asked_book() override;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    // Bytes of the longest address, before the first is asked for.
    void limit(std::size_t longest) noexcept { longest_ = longest; }

    [[nodiscard]] ucs_status_t find(schedule::rank_t rank,
                                    std::span<const std::byte>& found) noexcept override;
    [[nodiscard]] std::size_t kept() const noexcept override {
        return kept_.load(std::memory_order_relaxed);
    }
    void serve() noexcept override;
    [[nodiscard]] bool close() noexcept override;

private:
    struct answer {
        ucs_status_t status = UCS_INPROGRESS;
        std::vector<std::byte> address;
    };
    void ask(schedule::rank_t rank, answer& into);

    const ucg_oob_t over_;
    const std::uint64_t number_;
    std::size_t longest_ = 0;
    std::atomic<std::size_t> kept_ = 0;
    std::unordered_map<schedule::rank_t, answer> answers_;  // which never move
    bool closed_ = false;
};

}  // namespace ucg::net
