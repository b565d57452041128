#include "ucg/moe/normal/copy_work.hpp"

namespace ucg::moe {

void gather_work::work() const noexcept {
    for (std::size_t p = 0; p < part_count; ++p) {
        if (into_[p].elements == 0) continue;
        for (std::uint32_t i = 0; i < rows_.count; ++i)
            copy_row(into_[p], i, from_[p], rows_[i]);
    }
}

void place_work::work() const noexcept {
    for (std::uint32_t i = 0; i < rows_.count; ++i) {
        if (into_.expanded == nullptr)
            place_row(first_ + i, rows_[i]);
        else
            place_expanded(first_ + i, rows_[i]);
    }
}

void place_work::place_row(std::uint32_t row, std::uint32_t from) const noexcept {
    for (const std::size_t p : {scales, values})
        if (from_[p].elements != 0) copy_row(into_.into[p], row, from_[p], from);
    for (std::uint32_t j = 0; j < in_.k; ++j) {
        const expert_t expert = in_.chosen[std::size_t{row} * in_.k + j];
        if (from_[weights].elements != 0) {
            const float weight = expert == choices::none ? 0 : float_at(from_[weights], from, j);
            put_float(into_.into[weights], row, j, weight);
        }
    }
}

void place_work::place_expanded(std::uint32_t row, std::uint32_t from) const noexcept {
    const std::span<const std::uint32_t> targets = into_.expanded->rows_of(row);
    for (std::uint32_t j = 0; j < in_.k; ++j) {
        if (targets[j] == expansion::no_row) continue;
        for (const std::size_t p : {scales, values})
            if (from_[p].elements != 0) copy_row(into_.into[p], targets[j], from_[p], from);
        if (from_[weights].elements != 0)
            put_float(into_.into[weights], targets[j], 0, float_at(from_[weights], from, j));
    }
}

}  // namespace ucg::moe
