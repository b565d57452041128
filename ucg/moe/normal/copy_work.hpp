// Work items that copy rows between tensors and messages.
#pragma once

#include <span>

#include "ucg/moe/plan/expansion.hpp"
#include "ucg/moe/plan/plan.hpp"
#include "ucg/moe/record.hpp"
#include "ucg/moe/steps.hpp"

namespace ucg::moe {

// A selection of rows: those with the given indices, or the first ones.
struct selection {
    std::span<const std::uint32_t> named;
    std::uint32_t count = 0;

    selection(std::span<const std::uint32_t> rows) noexcept
        : named(rows), count(static_cast<std::uint32_t>(rows.size())) {}
    explicit selection(std::uint32_t rows) noexcept : count(rows) {}
    [[nodiscard]] std::uint32_t operator[](std::uint32_t i) const noexcept {
        return named.empty() ? i : named[i];
    }
};

// Copies row rows[i] of `from` to row i of `into`.
class gather_work final : public work_item {
public:
    gather_work(const parts& into, const const_parts& from, selection rows) noexcept
        : into_(into), from_(from), rows_(rows) {}

private:
    void work() const noexcept override;
    parts into_;
    const_parts from_;
    selection rows_;
};

// The tensors into which a rank copies the rows that it receives.
struct destination {
    parts into;
    matrix chosen;                        // chosen experts, [rows, k]; may be absent
    const expansion* expanded = nullptr;  // null: one row for each token
};

// Copies row rows[i] of `from` to row `first` + i of the output. In the expanded layout, copies it
// to all rows of that token.
class place_work final : public work_item {
public:
    place_work(const destination& into, const receive_plan& in, std::uint32_t first,
               const const_parts& from, selection rows) noexcept
        : into_(into), in_(in), first_(first), from_(from), rows_(rows) {}

private:
    void work() const noexcept override;
    void place_row(std::uint32_t row, std::uint32_t from) const noexcept;
    void place_expanded(std::uint32_t row, std::uint32_t from) const noexcept;

    const destination& into_;
    const receive_plan& in_;
    std::uint32_t first_;
    const_parts from_;
    selection rows_;
};

}  // namespace ucg::moe
