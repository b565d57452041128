// The buffers of one rank for a collective, with input, guard bytes, and the expected output.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ucg/reference/content.hpp"

namespace test {

// Each buffer has exactly the needed size, so that a sanitizer detects every overrun. Not movable.
class collective_memory {
public:
    collective_memory(const ucg::reference::problem& wanted, const ucg::reference::elements& like,
                      ucg::reference::rank_t rank);
    collective_memory(const collective_memory&) = delete;
    collective_memory& operator=(const collective_memory&) = delete;

    // Writes the input of a round. All ranks use the same number.
    void fill(std::uint64_t round);
    // Describes the first error of the round; returns an empty string if the output is correct, and
    // all bytes that are neither input nor output are as before.
    [[nodiscard]] std::string wrong() const;

    // Null if this rank has no such buffer.
    [[nodiscard]] const void* source() const noexcept { return source_.get(); }
    [[nodiscard]] void* target() const noexcept { return target_.get(); }
    [[nodiscard]] const ucg::reference::layout& layout() const noexcept { return layout_; }

private:
    ucg::reference::layout layout_;
    std::size_t element_;
    ucg::reference::content content_;
    std::size_t source_bytes_, target_bytes_;
    std::unique_ptr<std::byte[]> source_, target_;
    std::vector<std::byte> source_before_;
    std::vector<bool> may_change_;  // elements of the target
    std::uint64_t round_ = 0;
};

}  // namespace test
