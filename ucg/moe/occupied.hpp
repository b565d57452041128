// Which memory a tensor takes.
#pragma once

#include <cstdint>

#include "ucg/moe/tensor.hpp"

namespace ucg::moe {

// The bytes from the first to the last one, and how its rows are spread over them: rows with gaps
// leave room for those of other tensors. Value.
class occupied {
public:
    explicit occupied(const const_matrix& what) noexcept : occupied({what, 0}, 1) {}
    occupied(const const_stack& what, std::uint32_t experts) noexcept;

    // Whether there may be a byte of both: false is certain. Elements with gaps between them count
    // as if they had none, and so do rows at distances that do not fit each other.
    [[nodiscard]] bool meets(const occupied& other) const noexcept;

private:
    void reach(std::uint64_t count, std::uintptr_t distance, bool down) noexcept;

    std::uintptr_t begin_ = 0;
    std::uintptr_t end_ = 0;     // behind the last byte; as begin_: it takes none
    std::uintptr_t width_ = 0;   // of a row
    std::uintptr_t period_ = 0;  // rows are at multiples of it from each other; 0: there is one
};

}  // namespace ucg::moe
