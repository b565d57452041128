// An arena: memory that is allocated piece by piece and freed all at once.
#pragma once

#include <cstddef>

namespace ucg::schedule {

// Does not own the memory, whose begin must be aligned for any type. Value type. Owner context.
class arena {
public:
    arena() = default;
    arena(std::byte* memory, std::size_t bytes) noexcept : memory_(memory), bytes_(bytes) {}

    // Returns the bytes that a piece of `bytes` bytes takes: each piece is aligned for any element.
    [[nodiscard]] static constexpr std::size_t aligned(std::size_t bytes) noexcept {
        return (bytes + alignment - 1) / alignment * alignment;
    }
    // Returns the size of an arena from which an algorithm takes `bytes` bytes in up to `pieces`
    // pieces.
    [[nodiscard]] static constexpr std::size_t for_pieces_of(std::size_t bytes) noexcept {
        return aligned(bytes) + pieces * alignment;
    }

    // Returns nullptr if fewer bytes are left.
    [[nodiscard]] std::byte* take(std::size_t bytes) noexcept {
        if (aligned(bytes) > bytes_ - used_) return nullptr;
        std::byte* const taken = memory_ + used_;
        used_ += aligned(bytes);
        return taken;
    }
    void clear() noexcept { used_ = 0; }

private:
    static constexpr std::size_t alignment = alignof(std::max_align_t);
    static constexpr std::size_t pieces = 8;

    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t used_ = 0;
};

}  // namespace ucg::schedule
