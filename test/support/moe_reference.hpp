// Reference for MoE exchanges: the rows of each rank and expert, computed by plain loops over the
// choices of all ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace test::moe {

// Identifies a token of a rank.
struct row {
    std::uint32_t source;
    std::uint32_t token;
};

// A row of a token at one of its experts.
struct expanded_row {
    row token;
    std::uint32_t choice;    // of the token
    std::uint32_t expert;    // numbered within the rank
    std::uint32_t place;     // among the rows of the expert
    std::uint32_t received;  // index of the token among rows_of() the rank
};

// The experts that the tokens of all ranks chose. A value.
struct gating {
    std::uint32_t experts = 1;                    // of all ranks
    std::uint32_t k = 1;                          // choices of each token
    std::vector<std::vector<std::int64_t>> topk;  // of each rank [tokens, k]; -1: none
    std::vector<std::uint8_t> masked;             // ranks that get nothing; empty: none

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(topk.size()); }
    [[nodiscard]] std::uint32_t local() const { return experts / ranks(); }
    [[nodiscard]] std::uint32_t tokens(std::uint32_t rank) const {
        return static_cast<std::uint32_t>(topk[rank].size() / k);
    }
    [[nodiscard]] bool lives(std::uint32_t rank) const { return masked.empty() || !masked[rank]; }
    [[nodiscard]] std::vector<std::uint32_t> living() const {
        std::vector<std::uint32_t> made;
        for (std::uint32_t rank = 0; rank < ranks(); ++rank)
            if (lives(rank)) made.push_back(rank);
        return made;
    }
    [[nodiscard]] std::int64_t choice(std::uint32_t rank, std::uint64_t token,
                                      std::uint32_t j) const {
        return topk[rank][token * k + j];
    }
    // The expert of a choice; -1 also where its rank is masked.
    [[nodiscard]] std::int64_t living_choice(std::uint32_t rank, std::uint64_t token,
                                             std::uint32_t j) const {
        const std::int64_t expert = choice(rank, token, j);
        return expert >= 0 && lives(rank_of(expert)) ? expert : -1;
    }
    [[nodiscard]] std::uint32_t rank_of(std::int64_t expert) const {
        return static_cast<std::uint32_t>(expert) / local();
    }
    // The expert of a choice, numbered within this rank; -1 if the expert belongs to another rank.
    [[nodiscard]] std::int64_t choice_at(std::uint32_t rank, row token_row, std::uint32_t j) const {
        const std::int64_t expert = choice(token_row.source, token_row.token, j);
        return expert >= 0 && rank_of(expert) == rank ? expert % std::int64_t{local()} : -1;
    }
    // Returns true if a token goes to a rank.
    [[nodiscard]] bool goes(row token_row, std::uint32_t to) const {
        for (std::uint32_t j = 0; lives(to) && j < k; ++j)
            if (choice_at(to, token_row, j) >= 0) return true;
        return false;
    }
    // The rows that a rank receives, in order.
    [[nodiscard]] std::vector<row> rows_of(std::uint32_t rank) const {
        std::vector<row> made;
        for (const std::uint32_t source : living())
            for (std::uint32_t token = 0; token < tokens(source); ++token)
                if (goes({source, token}, rank)) made.push_back({source, token});
        return made;
    }
    // The rows of all experts of a rank, with one row per choice, in the order of the choices.
    [[nodiscard]] std::vector<expanded_row> expanded_rows(std::uint32_t rank) const {
        const std::vector<row> rows = rows_of(rank);
        std::vector<std::uint32_t> next(local());
        std::vector<expanded_row> made;
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            for (std::uint32_t j = 0; j < k; ++j) {
                const std::int64_t chosen = choice_at(rank, rows[i], j);
                if (chosen < 0) continue;
                const auto expert = static_cast<std::uint32_t>(chosen);
                made.push_back({rows[i], j, expert, next[expert]++, i});
            }
        return made;
    }
    // Numbers of rows of each expert of a rank from each source [local(), ranks()].
    [[nodiscard]] std::vector<std::uint32_t> counts_by_source(std::uint32_t rank) const {
        std::vector<std::uint32_t> made(std::size_t{local()} * ranks());
        for (const expanded_row& each : expanded_rows(rank))
            ++made[std::size_t{each.expert} * ranks() + each.token.source];
        return made;
    }
    // Offsets of the rows of each expert of a rank, with one row per choice. Padding aligns each
    // offset to a multiple of the alignment; the last entry is the number of all rows.
    [[nodiscard]] std::vector<std::uint32_t> begins(std::uint32_t rank,
                                                    std::uint32_t alignment) const {
        std::vector<std::uint32_t> made(local() + 1);
        for (const std::uint32_t source : living())
            for (const std::int64_t expert : topk[source])
                if (expert >= 0 && rank_of(expert) == rank)
                    ++made[static_cast<std::size_t>(expert) % local() + 1];
        for (std::size_t i = 1; i < made.size(); ++i)
            made[i] = made[i - 1] + (made[i] + alignment - 1) / alignment * alignment;
        return made;
    }
    // For all choices [tokens, k] of each rank: the index of the row among the rows of its expert.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> places() const {
        std::vector<std::uint32_t> next(experts);
        std::vector<std::vector<std::uint32_t>> made(ranks());
        for (const std::uint32_t source : living())
            for (const std::int64_t expert : topk[source])
                made[source].push_back(expert < 0 ? 0 : next[static_cast<std::size_t>(expert)]++);
        return made;
    }
};

// Index of a token in `rows`, which must be sorted.
[[nodiscard]] inline std::uint32_t index_of(const std::vector<row>& rows, row wanted) {
    const auto found = std::ranges::lower_bound(rows, wanted, [](row a, row b) {
        return std::pair(a.source, a.token) < std::pair(b.source, b.token);
    });
    return static_cast<std::uint32_t>(found - rows.begin());
}

}  // namespace test::moe
