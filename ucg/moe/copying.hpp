// Rows from tensors into messages, from messages into others, and into the output.
#pragma once

#include <span>

#include "ucg/moe/chore.hpp"
#include "ucg/moe/expansion.hpp"
#include "ucg/moe/plan.hpp"
#include "ucg/moe/record.hpp"

namespace ucg::moe {

// Rows that are named, or as many from the first on.
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

// into[i] = from[which[i]].
class gathering final : public chore {
public:
    gathering(const parts& into, const const_parts& from, selection which) noexcept
        : into_(into), from_(from), which_(which) {}

private:
    void work() const noexcept override;
    parts into_;
    const_parts from_;
    selection which_;
};

// Where a rank's received rows go.
struct destination {
    parts into;
    matrix chosen;                      // [rows, k] may be absent
    const expansion* expanded = nullptr;  // null: a row for each token
};

// Row `first` + i of the plan's rows = from[which[i]].
class placing final : public chore {
public:
    placing(const destination& into, const arriving& in, std::uint32_t first,
            const const_parts& from, selection which) noexcept
        : into_(into), in_(in), first_(first), from_(from), which_(which) {}

private:
    void work() const noexcept override;
    void place(std::uint32_t row, std::uint32_t from) const noexcept;
    void place_expanded(std::uint32_t row, std::uint32_t from) const noexcept;

    const destination& into_;
    const arriving& in_;
    std::uint32_t first_;
    const_parts from_;
    selection which_;
};

}  // namespace ucg::moe
