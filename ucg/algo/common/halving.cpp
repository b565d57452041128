#include "ucg/algo/common/halving.hpp"

#include "ucg/algo/common/blocks.hpp"

namespace ucg::algo {

std::size_t begins_size(rank_t size) noexcept {
    return (size + 1U) * sizeof(std::uint64_t);
}

void cut_equally(const folding& fold, std::uint64_t count, std::uint64_t* begins) noexcept {
    const cut pieces{count, fold.ranks()};
    for (rank_t i = 0; i <= fold.ranks(); ++i)
        begins[i] = pieces.begin(i);
}

task halve(member& me, const call& args, halving_state& state) {
    const auto offset_of = [&](rank_t piece) { return state.begins[piece] * args.element; };
    const rank_t folded_rank = state.fold.folded();
    const std::byte* value = state.value;
    state.first = 0;
    state.end = state.fold.ranks();
    for (rank_t distance = 1; distance < state.fold.ranks(); distance *= 2) {
        const rank_t partner = state.fold.real(folded_rank ^ distance);
        const bool upper = (folded_rank & distance) != 0;
        const rank_t middle = (state.first + state.end) / 2;
        const rank_t keep = upper ? middle : state.first;
        const rank_t keep_end = upper ? state.end : middle;
        const rank_t give = upper ? state.first : middle;
        const rank_t give_end = upper ? middle : state.end;
        const std::size_t got = offset_of(keep);
        co_await me.exchange(partner, value + offset_of(give),
                             offset_of(give_end) - offset_of(give), partner, state.spare + got,
                             offset_of(keep_end) - got);
        const std::byte* left = upper ? state.spare : value;
        const std::byte* right = upper ? value : state.spare;
        co_await me.reduce(*args.op, state.data + got, left + got, right + got,
                           state.begins[keep_end] - state.begins[keep],
                           distance * 2 == state.fold.ranks());
        value = state.data;
        state.first = keep;
        state.end = keep_end;
    }
}

task double_back(member& me, const call& args, halving_state& state) {
    const auto offset_of = [&](rank_t piece) { return state.begins[piece] * args.element; };
    const rank_t folded_rank = state.fold.folded();
    for (rank_t distance = state.fold.ranks() / 2; distance >= 1; distance /= 2) {
        const rank_t partner = state.fold.real(folded_rank ^ distance);
        const rank_t length = state.end - state.first;
        const rank_t other =
            (folded_rank & distance) != 0 ? state.first - length : state.first + length;
        co_await me.exchange(partner, state.data + offset_of(state.first),
                             offset_of(state.end) - offset_of(state.first), partner,
                             state.data + offset_of(other),
                             offset_of(other + length) - offset_of(other));
        state.first = state.first < other ? state.first : other;
        state.end = state.first + 2 * length;
    }
}

task gather_back(member& me, const call& args, halving_state& state, rank_t target) {
    const auto offset_of = [&](rank_t piece) { return state.begins[piece] * args.element; };
    const rank_t folded_rank = state.fold.folded();
    for (rank_t distance = state.fold.ranks() / 2; distance >= 1; distance /= 2) {
        const rank_t partner = state.fold.real(folded_rank ^ distance);
        if (((folded_rank ^ target) & distance) != 0) {
            co_await me.send(partner, state.data + offset_of(state.first),
                             offset_of(state.end) - offset_of(state.first));
            co_return;
        }
        const rank_t length = state.end - state.first;
        const rank_t other =
            (folded_rank & distance) != 0 ? state.first - length : state.first + length;
        co_await me.receive(partner, state.data + offset_of(other),
                            offset_of(other + length) - offset_of(other));
        state.first = state.first < other ? state.first : other;
        state.end = state.first + 2 * length;
    }
}

void add_halving(round_costs& to, const shape& params, const link_cost& link) noexcept {
    double bytes = params.bytes / 2;
    for (rank_t distance = 1; distance < std::bit_floor(params.ranks); distance *= 2, bytes /= 2)
        to.swap(distance, bytes, bytes * link.reduce_byte);
}

void add_doubling_back(round_costs& to, const shape& params) noexcept {
    const rank_t left = std::bit_floor(params.ranks);
    double bytes = params.bytes / left;
    for (rank_t distance = left / 2; distance >= 1; distance /= 2, bytes *= 2)
        to.swap(distance, bytes);
}

}  // namespace ucg::algo
