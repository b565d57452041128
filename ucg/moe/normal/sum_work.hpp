// Work items that add up rows of several ranks or of several experts.
#pragma once

#include <span>
#include <vector>

#include "ucg/moe/plan/expansion.hpp"
#include "ucg/moe/record.hpp"
#include "ucg/moe/steps.hpp"
#include "ucg/reduce/kernel.hpp"

namespace ucg::moe {

// Row i of `from` is added to row places[i] of the result. `places` is ascending.
struct addend {
    const_parts from;
    std::span<const std::uint32_t> places;
};

// Scratch memory for a sum of up to `most` addends. Allocated once and used for each channel.
struct sum_memory {
    std::vector<addend> addends;
    std::vector<std::uint32_t> cursors;
    std::vector<const void*> sources;

    sum_memory() = default;
    explicit sum_memory(std::size_t most) : addends(most), cursors(most), sources(most + 2) {}
};

// Adds up rows in fp32 and rounds once. The rows of the result and of the sources are dense.
void add_up(const matrix& into, std::uint64_t row, std::span<const void* const> sources) noexcept;

// Computes rows [begin, end) of the result: the sum of the first `count` addends in their order,
// then of the biases. Biases apply to values only and have the same rows as the result. A row
// without addends becomes 0.
class sum_work final : public work_item {
public:
    sum_work(const parts& into, sum_memory& memory, std::size_t count, std::uint32_t begin,
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

// Computes row i of the result: the sum of the expanded rows of received row `first` + i, in the
// order of its choices. The weights return to the columns of their choices.
class fold_work final : public work_item {
public:
    fold_work(const parts& into, const const_parts& from, const expansion& expanded,
              std::uint32_t first, std::uint32_t count, sum_memory& memory) noexcept
        : into_(into),
          from_(from),
          expanded_(expanded),
          first_(first),
          count_(count),
          memory_(memory) {}

private:
    void work() const noexcept override;

    parts into_;
    const_parts from_;
    const expansion& expanded_;
    std::uint32_t first_, count_;
    sum_memory& memory_;
};

}  // namespace ucg::moe
