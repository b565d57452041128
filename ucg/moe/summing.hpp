// Adding up rows of several ranks.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ucg/moe/chore.hpp"
#include "ucg/moe/expansion.hpp"
#include "ucg/moe/record.hpp"
#include "ucg/reduce/kernel.hpp"

namespace ucg::moe {

// Row i of `from` is to be added to row places[i] of the result; ascending.
struct addend {
    const_parts from;
    std::span<const std::uint32_t> places;
};

// What a sum of so many addends needs; allocated beforehand, used again.
struct sum_memory {
    std::vector<addend> addends;
    std::vector<std::uint32_t> cursors;
    std::vector<const void*> sources;

    sum_memory() = default;
    explicit sum_memory(std::size_t most) : addends(most), cursors(most), sources(most + 2) {}
};

// Adds up rows in fp32 and rounds once. Rows of the result are dense, as are those that are added.
void add_up(const matrix& into, std::uint64_t row, std::span<const void* const> sources) noexcept;

// Rows [begin, end) of the result: the sum of the first `count` addends in their order, then of
// biases, which are for values only and have the result's rows. No addend: 0.
class summing final : public chore {
public:
    summing(const parts& into, sum_memory& memory, std::size_t count, std::uint32_t begin,
            std::uint32_t end, std::span<const const_matrix> biases = {}) noexcept
        : into_(into), memory_(memory), count_(count), begin_(begin), end_(end), biases_(biases) {}

private:
    void work() const noexcept override;
    void sum_part(std::size_t part) const noexcept;

    parts into_;
    sum_memory& memory_;
    std::size_t count_;
    std::uint32_t begin_, end_;
    std::span<const const_matrix> biases_;
};

// Row i of the result: the sum of the rows that received row `first` + i has in the expanded
// layout, in the order of its choices. Weights come back to their places.
class folding final : public chore {
public:
    folding(const parts& into, const const_parts& from, const expansion& by, std::uint32_t first,
            std::uint32_t count, sum_memory& memory) noexcept
        : into_(into), from_(from), by_(by), first_(first), count_(count), memory_(memory) {}

private:
    void work() const noexcept override;

    parts into_;
    const_parts from_;
    const expansion& by_;
    std::uint32_t first_, count_;
    sum_memory& memory_;
};

}  // namespace ucg::moe
