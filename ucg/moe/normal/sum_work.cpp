#include "ucg/moe/normal/sum_work.hpp"

#include <algorithm>

namespace ucg::moe {

void add_up(const matrix& into, std::uint64_t row, std::span<const void* const> sources) noexcept {
    std::byte* const out = into.row(row);
    if (sources.empty())
        std::memset(out, 0, into.row_bytes());
    else if (sources.size() == 1)
        std::memmove(out, sources.front(), into.row_bytes());
    else
        reduce::find_kernel(into.type, reduce::operation::sum)(
            {out, sources.data(), sources.size(), into.elements});
}

void sum_work::work() const noexcept {
    for (const std::size_t p : {weights, values})
        if (into_[p].elements != 0) sum_part(p);
}

void sum_work::sum_part(std::size_t p) const noexcept {
    std::fill_n(memory_.cursors.begin(), count_, 0U);
    for (std::uint32_t place = begin_; place < end_; ++place) {
        std::size_t sources = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            const addend& each = memory_.addends[i];
            std::uint32_t& cursor = memory_.cursors[i];
            if (cursor == each.places.size() || each.places[cursor] != place) continue;
            memory_.sources[sources++] = each.from[p].row(cursor++);
        }
        for (const const_matrix& bias : biases_)
            if (p == values && bias.elements != 0) memory_.sources[sources++] = bias.row(place);
        add_up(into_[p], place, std::span(memory_.sources).first(sources));
    }
}

void fold_work::work() const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
        const std::span<const std::uint32_t> rows = expanded_.rows_of(first_ + i);
        std::size_t sources = 0;
        for (std::uint32_t j = 0; j < rows.size(); ++j) {
            const bool is_here = rows[j] != expansion::no_row;
            if (is_here) memory_.sources[sources++] = from_[values].row(rows[j]);
            if (into_[weights].elements != 0)
                put_float(into_[weights], i, j,
                          is_here ? float_at(from_[weights], rows[j], 0) : 0.0F);
        }
        add_up(into_[values], i, std::span(memory_.sources).first(sources));
    }
}

}  // namespace ucg::moe
