// The layout of the memory through which the kernels of ranks on one node exchange data and flags.
// Host code and device code share this header.
//
// Each rank has one such area in the memory of its device. All ranks of the node map it.
//
//     0       control     failure of this rank, so that later launches end at once
//     256     channels    256 B each: numbers of this rank | flags, one of each rank
//     …       slices      of each channel two, which its rounds use in turn
//
// A channel is block b of the launch of every rank. It has its own flags, numbers and slices, so
// blocks of one launch never wait for each other. Every word has one writer: rank r writes flag r
// of all areas; the other words and the slices are written by the rank that owns the area.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ucg::cuda {

inline constexpr std::uint32_t max_ranks = 16;
// All copies are made in vectors of this length, and all offsets in slices are multiples of it.
inline constexpr std::size_t vector_bytes = 16;

// The first words of an area. A new area is filled with zeros.
struct control {
    std::uint64_t failure;  // word of the first failure (failure_word()), or 0
};

struct alignas(256) channel_words {
    // The number of the last flag that this rank posted. It grows by one with each, and never
    // begins again, so neither launches nor replays of a graph need to reset anything.
    std::uint64_t sequence;
    std::uint64_t rounds;  // number of slices that this rank has used: the next is slice rounds % 2
    alignas(128) std::uint64_t flags[max_ranks];  // flags[r]: the last number that rank r posted
};
static_assert(sizeof(channel_words) == 256);

// The value of a flag whose rank has failed. It is larger than any number.
inline constexpr std::uint64_t failed_flag = ~std::uint64_t{0};

// Offsets in an area. All ranks of a group have the same layout.
struct layout {
    std::uint32_t channels;     // most blocks of a launch
    std::uint32_t slice_bytes;  // a multiple of 16 * vector_bytes, so that every rank has a part

    [[nodiscard]] constexpr std::size_t channel(std::uint32_t index) const noexcept {
        return sizeof(channel_words) * (std::size_t{1} + index);
    }
    // Returns the slice of the rounds whose number modulo 2 is `half`.
    [[nodiscard]] constexpr std::size_t slice(std::uint32_t index,
                                              std::uint32_t half) const noexcept {
        return channel(channels) + (std::size_t{2} * index + half) * slice_bytes;
    }
    // Returns the length of the area in bytes.
    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return slice(channels, 0); }
};

}  // namespace ucg::cuda
