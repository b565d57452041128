// What is in the buffers of a collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/ucg_perf/layout.hpp"
#include "tools/ucg_perf/numbers.hpp"

namespace tools::ucg_perf {

// Writes what a rank gives and compares what it got. Every round has contents of its own, so what
// is left from an earlier one is seen. Used by one trial.
class content {
public:
    // `of` outlives it.
    content(const layout& of, const numbers& by, std::uint32_t rank) noexcept
        : of_(of), by_(by), rank_(rank) {}

    // All that the rank gives, the same value everywhere: as fast as memory is written.
    void write_anew(void* source, void* target, std::uint64_t round) const noexcept;

    // Every element with a value of its own.
    void write(void* source, void* target, std::uint64_t round) const noexcept;
    // Of a round that was written by write() on every rank: what is wrong first, if anything.
    [[nodiscard]] std::optional<std::string> wrong(const void* target, std::uint64_t round) const;

private:
    void make(void* to, const block& of, std::uint64_t index, std::uint64_t round) const noexcept;
    [[nodiscard]] bool right(const void* got, const block& of, std::uint64_t index,
                             std::uint64_t round) const noexcept;

    const layout& of_;
    const numbers& by_;
    std::uint32_t rank_;
};

}  // namespace tools::ucg_perf
