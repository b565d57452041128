// Reduce-scatter by recursive halving and allgather by recursive doubling, in the order of ranks.
#pragma once

#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/prices.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// Data cut into as many pieces as folding leaves ranks. Lives in the frame of whoever awaits.
struct halves {
    const folding& fold;
    const std::uint64_t* begins;  // of the pieces, in elements, and the end of the last one
    const std::byte* value;       // what this rank adds; may be `data`
    std::byte* data;              // where results go; as long as the value
    std::byte* spare;             // as long as data

    // The pieces that this rank is left with.
    rank_t first = 0;
    rank_t end = 0;
};

// Bytes of scratch that `begins` takes.
[[nodiscard]] std::size_t begins_size(rank_t size) noexcept;
// `count` elements in equal pieces.
void cut_equally(const folding& fold, std::uint64_t count, std::uint64_t* begins) noexcept;

// Each round halves what is left and exchanges the other half: first with the neighbour, then with
// ranks at twice the distance. So the operands are always those of ranks next to each other, in
// order, and the large messages are those between neighbours, which often share a node; but rank r
// is left with the piece whose number is r with its bits reversed. The order of operations is that
// of recursive doubling, for every element. Sets `first` and `end`. Not for ranks that
// fold.gives().
task halve(member& me, const call& what, halves& of);

// The way back: afterwards each rank has all pieces in `data`.
task double_back(member& me, const call& what, halves& of);

// The same, but only the rank whose folded number is `target` gets all pieces.
task gather_back(member& me, const call& what, halves& of, rank_t target);

// What these take, of `of.bytes` bytes. gather_back() takes as long as double_back().
void add_halving(rounds& to, const shape& of, const link_cost& link) noexcept;
void add_doubling_back(rounds& to, const shape& of) noexcept;

}  // namespace ucg::algo
