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

task halve(member& me, const call& what, halves& of) {
    const auto at = [&](rank_t piece) { return of.begins[piece] * what.element; };
    const rank_t mine = of.fold.folded();
    const std::byte* value = of.value;
    of.first = 0;
    of.end = of.fold.ranks();
    for (rank_t distance = 1; distance < of.fold.ranks(); distance *= 2) {
        const rank_t partner = of.fold.real(mine ^ distance);
        const bool upper = (mine & distance) != 0;
        const rank_t middle = (of.first + of.end) / 2;
        const rank_t keep = upper ? middle : of.first;
        const rank_t keep_end = upper ? of.end : middle;
        const rank_t give = upper ? of.first : middle;
        const rank_t give_end = upper ? middle : of.end;
        const std::size_t got = at(keep);
        co_await me.exchange(partner, value + at(give), at(give_end) - at(give), partner,
                             of.spare + got, at(keep_end) - got);
        const std::byte* left = upper ? of.spare : value;
        const std::byte* right = upper ? value : of.spare;
        co_await me.reduce(*what.how, of.data + got, left + got, right + got,
                           of.begins[keep_end] - of.begins[keep], distance * 2 == of.fold.ranks());
        value = of.data;
        of.first = keep;
        of.end = keep_end;
    }
}

task double_back(member& me, const call& what, halves& of) {
    const auto at = [&](rank_t piece) { return of.begins[piece] * what.element; };
    const rank_t mine = of.fold.folded();
    for (rank_t distance = of.fold.ranks() / 2; distance >= 1; distance /= 2) {
        const rank_t partner = of.fold.real(mine ^ distance);
        const rank_t length = of.end - of.first;
        const rank_t other = (mine & distance) != 0 ? of.first - length : of.first + length;
        co_await me.exchange(partner, of.data + at(of.first), at(of.end) - at(of.first), partner,
                             of.data + at(other), at(other + length) - at(other));
        of.first = of.first < other ? of.first : other;
        of.end = of.first + 2 * length;
    }
}

task gather_back(member& me, const call& what, halves& of, rank_t target) {
    const auto at = [&](rank_t piece) { return of.begins[piece] * what.element; };
    const rank_t mine = of.fold.folded();
    for (rank_t distance = of.fold.ranks() / 2; distance >= 1; distance /= 2) {
        const rank_t partner = of.fold.real(mine ^ distance);
        if (((mine ^ target) & distance) != 0) {
            co_await me.send(partner, of.data + at(of.first), at(of.end) - at(of.first));
            co_return;
        }
        const rank_t length = of.end - of.first;
        const rank_t other = (mine & distance) != 0 ? of.first - length : of.first + length;
        co_await me.receive(partner, of.data + at(other), at(other + length) - at(other));
        of.first = of.first < other ? of.first : other;
        of.end = of.first + 2 * length;
    }
}

void add_halving(rounds& to, const shape& of, const link_cost& link) noexcept {
    double bytes = of.bytes / 2;
    for (rank_t distance = 1; distance < std::bit_floor(of.ranks); distance *= 2, bytes /= 2)
        to.swap(distance, bytes, bytes * link.reduce_byte);
}

void add_doubling_back(rounds& to, const shape& of) noexcept {
    const rank_t left = std::bit_floor(of.ranks);
    double bytes = of.bytes / left;
    for (rank_t distance = left / 2; distance >= 1; distance /= 2, bytes *= 2)
        to.swap(distance, bytes);
}

}  // namespace ucg::algo
