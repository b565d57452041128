// Reduce-scatter by recursive halving and allgather by recursive doubling, in the order of ranks.
#pragma once

#include "ucg/algo/common/folding.hpp"
#include "ucg/algo/common/round_costs.hpp"
#include "ucg/algo/common/row.hpp"

namespace ucg::algo {

// State of halving and doubling. Data is cut into one piece for each remaining rank of a folding.
// Lies in the frame of the awaiting coroutine.
struct halving_state {
    const folding& fold;
    const std::uint64_t* begins;  // begin of each piece in elements, and the end of the last piece
    const std::byte* value;       // the input of this rank; may be equal to `data`
    std::byte* data;              // the results; as long as `value`
    std::byte* spare;             // as long as data

    // The pieces that this rank holds after halving.
    rank_t first = 0;
    rank_t end = 0;
};

// Returns the bytes of scratch memory for `begins`.
[[nodiscard]] std::size_t begins_size(rank_t size) noexcept;
// Fills `begins` for `count` elements in equal pieces.
void cut_equally(const folding& fold, std::uint64_t count, std::uint64_t* begins) noexcept;

// Reduce-scatter. Each round halves the data of a rank and sends the other half to a partner: first
// to the neighbour, then to ranks at twice the distance. So operands always belong to neighbouring
// ranks, in order, and the large messages go to neighbours, which often share a node. Rank r ends
// with the piece whose number is r with its bits reversed. For every element the order of
// operations is that of recursive doubling. Sets `first` and `end`. A rank for which
// fold.sends_to_partner() is true must not call it.
task halve(member& me, const call& args, halving_state& state);

// Allgather after halve(): each rank ends with all pieces in `data`.
task double_back(member& me, const call& args, halving_state& state);

// Gather after halve(): only the rank whose folded number is `target` ends with all pieces.
task gather_back(member& me, const call& args, halving_state& state, rank_t target);

// Add the costs of halve() and double_back() on `params.bytes` bytes. gather_back() costs as much
// as double_back().
void add_halving(round_costs& to, const shape& params, const link_cost& link) noexcept;
void add_doubling_back(round_costs& to, const shape& params) noexcept;

}  // namespace ucg::algo
