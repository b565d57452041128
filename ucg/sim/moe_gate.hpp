// The gate of a simulated MoE exchange: which experts each token chooses, and the contents of its
// row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ucg/moe/tensor.hpp"
#include "ucg/reduce/narrow_float.hpp"
#include "ucg/sim/moe_experiment.hpp"

namespace ucg::sim {

// The choices of all ranks, which depend on the seed only. Immutable.
class moe_gate {
public:
    // Each token chooses `setup.k` different experts. There must be at least that many experts.
    // Throws std::bad_alloc.
    moe_gate(rank_t ranks, const moe_experiment& setup);

    [[nodiscard]] const moe_experiment& setup() const noexcept { return setup_; }
    [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(topk_.size()); }
    [[nodiscard]] std::uint32_t experts() const noexcept { return setup_.experts * ranks(); }
    [[nodiscard]] std::uint32_t choice(rank_t source, std::uint32_t token,
                                       std::uint32_t j) const noexcept {
        return static_cast<std::uint32_t>(topk_[source][std::size_t{token} * setup_.k + j]);
    }
    [[nodiscard]] bool is_sent(rank_t source, std::uint32_t token, rank_t to) const noexcept;
    [[nodiscard]] moe::const_matrix topk(rank_t rank) const noexcept;

private:
    void choose(rank_t rank);

    const moe_experiment setup_;
    std::vector<std::vector<std::int32_t>> topk_;
};

// Element i of a token's row in bf16: a small integer, so that sums are exact.
[[nodiscard]] inline std::uint16_t number_of(rank_t source, std::uint32_t token,
                                             std::uint32_t i) noexcept {
    return reduce::narrow<reduce::bf16_format>(static_cast<float>(1 + (source + token + i) % 3));
}

// Rows of bf16 that own their memory. Rows that are never written take no physical memory.
class carried_rows {
public:
    // Throws std::bad_alloc.
    carried_rows(std::uint64_t rows, std::uint32_t elements)
        : elements_(elements), rows_(rows), all_(new std::uint16_t[rows * elements]) {}

    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
    [[nodiscard]] moe::matrix view() const noexcept {
        return moe::dense_matrix(reinterpret_cast<std::byte*>(all_.get()), rows_, elements_,
                                 reduce::element::bf16);
    }
    // Writes the elements of a token into a row.
    void put(std::uint64_t row, rank_t source, std::uint32_t token) noexcept {
        for (std::uint32_t i = 0; i < elements_; ++i)
            all_[row * elements_ + i] = number_of(source, token, i);
    }
    // True if a row is `times` the row of the token, rounded.
    [[nodiscard]] bool has(std::uint64_t row, rank_t source, std::uint32_t token,
                           float times = 1) const noexcept {
        for (std::uint32_t i = 0; i < elements_; ++i) {
            const float one = reduce::widen<reduce::bf16_format>(number_of(source, token, i));
            if (all_[row * elements_ + i] != reduce::narrow<reduce::bf16_format>(times * one))
                return false;
        }
        return true;
    }

private:
    std::uint32_t elements_;
    std::uint64_t rows_;
    std::unique_ptr<std::uint16_t[]> all_;
};

}  // namespace ucg::sim
