// The layout of blocks, pieces and segments in buffers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ucg/schedule/call.hpp"

namespace ucg::algo {

using schedule::rank_t;

inline std::byte* bytes_of(void* data) noexcept {
    return static_cast<std::byte*>(data);
}
inline const std::byte* bytes_of(const void* data) noexcept {
    return static_cast<const std::byte*>(data);
}

// Returns the input of a collective whose input and output have the same length.
inline const std::byte* input_of(const schedule::call& args) noexcept {
    return bytes_of(args.in_place ? args.into : args.from);
}

// `count` elements cut into `pieces` pieces. The sizes differ by at most one element; the longer
// pieces come first.
struct cut {
    std::uint64_t count;
    std::uint64_t pieces;

    [[nodiscard]] std::uint64_t begin(std::uint64_t piece) const noexcept {
        return piece * (count / pieces) + std::min(piece, count % pieces);
    }
    [[nodiscard]] std::uint64_t size(std::uint64_t piece) const noexcept {
        return begin(piece + 1) - begin(piece);
    }
    [[nodiscard]] std::uint64_t longest() const noexcept { return size(0); }
};

// The blocks of all ranks in one buffer. `Byte` is std::byte or const std::byte.
template<class Byte>
class blocks {
public:
    blocks(Byte* base, std::size_t element, std::uint64_t count) noexcept
        : base_(base), element_(element), count_(count) {}
    blocks(Byte* base, std::size_t element, const std::uint64_t* counts,
           const std::uint64_t* offsets) noexcept
        : base_(base), element_(element), counts_(counts), offsets_(offsets) {}

    [[nodiscard]] std::uint64_t count(rank_t rank) const noexcept {
        return counts_ == nullptr ? count_ : counts_[rank];
    }
    [[nodiscard]] std::size_t bytes(rank_t rank) const noexcept { return count(rank) * element_; }
    [[nodiscard]] Byte* at(rank_t rank) const noexcept {
        return base_ + (counts_ == nullptr ? rank * count_ : offsets_[rank]) * element_;
    }

private:
    Byte* base_;
    std::size_t element_;
    std::uint64_t count_ = 0;
    const std::uint64_t* counts_ = nullptr;
    const std::uint64_t* offsets_ = nullptr;
};

// Returns the blocks in `base`. Their sizes are args.counts or, if that is null, args.count for
// each of them.
template<class Byte>
blocks<Byte> blocks_of(const schedule::call& args, Byte* base) noexcept {
    return args.counts == nullptr ? blocks<Byte>(base, args.element, args.count)
                                  : blocks<Byte>(base, args.element, args.counts, args.offsets);
}

// Returns the smallest n with 2^n >= ranks.
inline unsigned doublings(rank_t ranks) noexcept {
    return ranks <= 1 ? 0 : static_cast<unsigned>(std::bit_width(ranks - 1));
}

// Cuts `count` elements into segments of about `bytes` bytes each.
inline cut segments_of(std::uint64_t count, std::size_t element, std::size_t bytes) noexcept {
    const std::uint64_t each = std::max<std::uint64_t>(bytes / element, 1);
    return {count, std::max<std::uint64_t>((count + each - 1) / each, 1)};
}

}  // namespace ucg::algo
