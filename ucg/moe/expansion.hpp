// A row for each expert that a token chose on this rank, expert by expert.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ucg/moe/arriving.hpp"
#include "ucs/type/result.hpp"

namespace ucg::moe {

// The rows of an expert begin at a multiple of the alignment and are in the order of (source rank,
// token, place among the choices); behind them is padding up to the next multiple. Value, immutable
// once made; any thread.
class expansion {
public:
    static constexpr std::uint32_t no_row = ~std::uint32_t{0};

    // UCS_ERR_EXCEEDS_LIMIT: more rows than can be numbered. UCS_ERR_INVALID_PARAM: alignment 0.
    [[nodiscard]] static ucs::result<expansion> make(const arriving& of, std::uint32_t alignment);

    // All rows, with padding.
    [[nodiscard]] std::uint32_t rows() const noexcept { return begins_.back(); }
    [[nodiscard]] std::uint32_t experts() const noexcept {
        return static_cast<std::uint32_t>(begins_.size() - 1);
    }
    // Of expert `experts()`: the end of all.
    [[nodiscard]] std::uint32_t begin(std::uint32_t expert) const noexcept {
        return begins_[expert];
    }
    // Without padding.
    [[nodiscard]] std::uint32_t count(std::uint32_t expert) const noexcept {
        return counts_[expert];
    }
    // For each choice of a received token the row that it has; no_row: it is not of this rank.
    [[nodiscard]] std::span<const std::uint32_t> rows_of(std::uint32_t received) const noexcept {
        return std::span(rows_).subspan(std::size_t{received} * k_, k_);
    }

    // The same, of all: begins has one more than there are experts.
    [[nodiscard]] std::span<const std::uint32_t> begins() const noexcept { return begins_; }
    [[nodiscard]] std::span<const std::uint32_t> counts() const noexcept { return counts_; }
    [[nodiscard]] std::span<const std::uint32_t> all_rows() const noexcept { return rows_; }

private:
    expansion() = default;

    std::uint32_t k_ = 0;
    std::vector<std::uint32_t> begins_, counts_, rows_;
};

}  // namespace ucg::moe
