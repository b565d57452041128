// Which operation of a group is which.
#pragma once

#include <cstdint>

namespace ucg::schedule {

// The same on every rank. Operations of each series count from 0; the topmost bit is the series.
using sequence_t = std::uint64_t;

// Ranks start the operations of one series in the same order, but not those of different ones: the
// program starts its own, and the rounds by which a group is split move on when messages come.
enum class series : std::uint8_t { program, splits };

class numbering {
public:
    static constexpr sequence_t series_bit = sequence_t{1} << 63;

    [[nodiscard]] sequence_t take(series of) noexcept {
        return of == series::program ? next_++ : next_of_splits_++;
    }
    [[nodiscard]] static constexpr series series_of(sequence_t number) noexcept {
        return (number & series_bit) == 0 ? series::program : series::splits;
    }
    // The number of the first one that this rank has not started.
    [[nodiscard]] sequence_t next(series of) const noexcept {
        return of == series::program ? next_ : next_of_splits_;
    }
    // How many operations of its series this rank starts before that one; 0: it has started it.
    [[nodiscard]] sequence_t ahead(sequence_t number) const noexcept {
        const sequence_t first = next(series_of(number));
        return number < first ? 0 : number - first + 1;
    }

private:
    sequence_t next_ = 0;
    sequence_t next_of_splits_ = series_bit;
};

}  // namespace ucg::schedule
