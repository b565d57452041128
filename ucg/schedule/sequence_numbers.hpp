// Sequence numbers, which identify the operations of a group on all ranks.
#pragma once

#include <cstdint>

namespace ucg::schedule {

// The sequence number of an operation, the same on every rank. Each series counts from 0; the
// topmost bit is the series.
using sequence_t = std::uint64_t;

// All ranks start the operations of one series in the same order. The order between the two series
// may differ: the program starts its own operations, but the rounds of a group split advance when
// messages arrive.
enum class series : std::uint8_t { program, group_splits };

class sequence_numbers {
public:
    static constexpr sequence_t series_bit = sequence_t{1} << 63;

    [[nodiscard]] sequence_t take(series which) noexcept {
        return which == series::program ? next_++ : next_of_group_splits_++;
    }
    [[nodiscard]] static constexpr series series_of(sequence_t number) noexcept {
        return (number & series_bit) == 0 ? series::program : series::group_splits;
    }
    // Returns the number of the first operation that this rank has not started.
    [[nodiscard]] sequence_t next(series which) const noexcept {
        return which == series::program ? next_ : next_of_group_splits_;
    }
    // Returns how many operations of the series this rank has to start until `number` is started,
    // including it. 0: it is started.
    [[nodiscard]] sequence_t starts_until(sequence_t number) const noexcept {
        const sequence_t first = next(series_of(number));
        return number < first ? 0 : number - first + 1;
    }

private:
    sequence_t next_ = 0;
    sequence_t next_of_group_splits_ = series_bit;
};

}  // namespace ucg::schedule
