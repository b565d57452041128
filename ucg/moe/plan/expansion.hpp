// The expanded layout of received tokens: one row for each choice of an expert of this rank, sorted
// by expert.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/plan/plan.hpp"
#include "ucs/type/result.hpp"

namespace ucg::moe {

// The rows of an expert begin at a multiple of the alignment and are sorted by source rank, token
// and index of the choice. Padding follows them up to the next multiple. A value that is immutable
// once made; any thread.
class expansion {
public:
    static constexpr std::uint32_t no_row = ~std::uint32_t{0};

    // UCS_ERR_EXCEEDS_LIMIT: there are more rows than can be numbered. UCS_ERR_INVALID_PARAM: the
    // alignment is 0.
    [[nodiscard]] static ucs::result<expansion> make(const receive_plan& received,
                                                     std::uint32_t alignment);

    // Number of all rows, including padding.
    [[nodiscard]] std::uint32_t rows() const noexcept { return begins_.back(); }
    [[nodiscard]] std::uint32_t experts() const noexcept {
        return static_cast<std::uint32_t>(begins_.size() - 1);
    }
    // First row of an expert. begin(experts()) is the end of the last expert's rows.
    [[nodiscard]] std::uint32_t begin(std::uint32_t expert) const noexcept {
        return begins_[expert];
    }
    // Number of rows of an expert, without padding.
    [[nodiscard]] std::uint32_t count(std::uint32_t expert) const noexcept {
        return counts_[expert];
    }
    // Returns the rows of a received token, one for each of its choices; no_row if the expert
    // belongs to another rank.
    [[nodiscard]] std::span<const std::uint32_t> rows_of(std::uint32_t received) const noexcept {
        return std::span(rows_).subspan(std::size_t{received} * k_, k_);
    }

    // These return begin() and count() of all experts, and rows_of() of all received tokens, as
    // arrays. begins() has experts() + 1 entries.
    [[nodiscard]] std::span<const std::uint32_t> begins() const noexcept { return begins_; }
    [[nodiscard]] std::span<const std::uint32_t> counts() const noexcept { return counts_; }
    [[nodiscard]] std::span<const std::uint32_t> all_rows() const noexcept { return rows_; }

private:
    expansion() = default;

    std::uint32_t k_ = 0;
    std::vector<std::uint32_t> begins_, counts_, rows_;
};

}  // namespace ucg::moe
