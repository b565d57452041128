// Writes the input of a collective into its buffers, and checks the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ucg/reference/layout.hpp"
#include "ucg/reference/values.hpp"

namespace ucg::reference {

inline constexpr std::size_t most_bytes = 128;

// The elements of a collective; the same on all ranks.
struct elements {
    ucg_type_t type = UCG_TYPE_OPAQUE;
    ucg_op_t op = UCG_OP_SUM;
    std::size_t bytes = 1;  // of one element, at most most_bytes
    word_operator user;     // UCG_OP_USER
};

// Writes the input of a rank and compares the output. Each round has different contents, so data
// left over from an earlier round is detected.
class content {
public:
    // The caller keeps `rank_layout` alive as long as this object.
    content(const layout& rank_layout, const elements& like, rank_t rank, rank_t ranks) noexcept
        : layout_(rank_layout), like_(like), numbers_(like.type, like.op, ranks), rank_(rank) {}

    // Writes each input element with a different value.
    void write(void* source, void* target, std::uint64_t round) const;
    // Returns a description of the first wrong element, or nullopt. Every rank must have written
    // the round with write().
    [[nodiscard]] std::optional<std::string> find_error(const void* target,
                                                        std::uint64_t round) const;

private:
    void write_element(void* to, const block& part, std::uint64_t index,
                       std::uint64_t round) const noexcept;
    void write_words(void* to, std::uint64_t index, std::uint64_t round,
                     rank_t rank) const noexcept;
    [[nodiscard]] std::optional<std::string> error_of(const void* got, const block& part,
                                                      std::uint64_t index,
                                                      std::uint64_t round) const;

    const layout& layout_;
    elements like_;
    numbers numbers_;
    rank_t rank_;
};

}  // namespace ucg::reference
