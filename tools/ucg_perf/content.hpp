// Writes the input of a collective into its buffers, and checks the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/ucg_perf/layout.hpp"
#include "tools/ucg_perf/numbers.hpp"

namespace tools::ucg_perf {

// Writes the input of a rank and compares the output. Each round has different contents, so data
// left over from an earlier round is detected. Used by one trial.
class content {
public:
    // The caller keeps `rank_layout` and `values` alive as long as this object.
    content(const layout& rank_layout, const numbers& values, std::uint32_t rank) noexcept
        : layout_(rank_layout), values_(values), rank_(rank) {}

    // Writes the rank's whole input with one value, at the speed of memory.
    void write_uniform(void* source, void* target, std::uint64_t round) const noexcept;

    // Writes each input element with a different value.
    void write(void* source, void* target, std::uint64_t round) const noexcept;
    // Returns a description of the first wrong element, or nullopt. Every rank must have written
    // the round with write().
    [[nodiscard]] std::optional<std::string> find_error(const void* target,
                                                        std::uint64_t round) const;

private:
    void write_element(void* to, const block& part, std::uint64_t index,
                       std::uint64_t round) const noexcept;
    [[nodiscard]] bool is_correct(const void* got, const block& part, std::uint64_t index,
                                  std::uint64_t round) const noexcept;

    const layout& layout_;
    const numbers& values_;
    std::uint32_t rank_;
};

}  // namespace tools::ucg_perf
