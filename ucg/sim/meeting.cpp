#include "ucg/sim/meeting.hpp"

#include <algorithm>
#include <cstring>

#include "ucg/algo/common/blocks.hpp"

namespace ucg::sim {
namespace {

using schedule::call;
using schedule::collective;

constexpr int garbage = 0xa5;

struct range {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
};

bool has_counts(collective what) noexcept {
    return what == collective::allgatherv || what == collective::reduce_scatter;
}

// Those that nodes do for hierarchical algorithms.
bool is_known(collective what) noexcept {
    switch (what) {
        case collective::barrier:
        case collective::bcast:
        case collective::reduce:
        case collective::allreduce:
        case collective::gather:
        case collective::scatter:
        case collective::allgather:
        case collective::allgatherv:
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
        case collective::alltoall:
            return true;
        default:
            return false;
    }
}

// Elements before the block of that place, and of it. Blocks of reduce_scatter have no gaps.
std::uint64_t begin_of(const call& what, rank_t place) noexcept {
    if (!has_counts(what.what)) return place * what.count;
    if (what.what != collective::reduce_scatter) return what.places[place];
    std::uint64_t sum = 0;
    for (rank_t i = 0; i < place; ++i)
        sum += what.counts[i];
    return sum;
}
std::uint64_t count_of(const call& what, rank_t place) noexcept {
    return has_counts(what.what) ? what.counts[place] : what.count;
}
std::uint64_t end_of_all(const call& what, rank_t ranks) noexcept {
    std::uint64_t end = 0;
    for (rank_t i = 0; i < ranks; ++i)
        end = std::max(end, begin_of(what, i) + count_of(what, i));
    return end;
}

bool gathers(collective what) noexcept {
    return what == collective::gather || what == collective::allgather ||
           what == collective::allgatherv;
}
bool only_root_gets(collective what) noexcept {
    return what == collective::reduce || what == collective::gather;
}

range input_of(const call& what, rank_t place, rank_t ranks) noexcept {
    const std::byte* const base = algo::input_of(what);
    switch (what.what) {
        case collective::barrier:
            return {};
        case collective::bcast:
            if (place != what.root) return {};
            return {algo::bytes_of(what.into), what.count * what.element};
        case collective::scatter:
            if (place != what.root) return {};
            return {algo::bytes_of(what.from), end_of_all(what, ranks) * what.element};
        case collective::reduce_scatter:
        case collective::reduce_scatter_block:
        case collective::alltoall:
            return {base, end_of_all(what, ranks) * what.element};
        default:
            break;
    }
    if (!gathers(what.what)) return {base, what.count * what.element};
    const std::size_t offset = what.in_place ? begin_of(what, place) * what.element : 0;
    return {base + offset, count_of(what, place) * what.element};
}

range output_of(const call& what, rank_t place, rank_t ranks) noexcept {
    const std::byte* const base = algo::bytes_of(what.into);
    if (what.what == collective::barrier || (only_root_gets(what.what) && place != what.root))
        return {};
    if (what.what == collective::bcast && place == what.root) return {};
    if (what.what == collective::scatter && place == what.root && what.in_place) return {};
    if (gathers(what.what) || what.what == collective::alltoall)
        return {base, end_of_all(what, ranks) * what.element};
    return {base, count_of(what, place) * what.element};
}

}  // namespace

void spoil_output(const call& what, rank_t place, rank_t ranks) noexcept {
    const range in = input_of(what, place, ranks);
    const range out = output_of(what, place, ranks);
    const bool apart = in.begin + in.bytes <= out.begin || out.begin + out.bytes <= in.begin;
    if (!apart || out.bytes == 0) return;
    const auto* const base = algo::bytes_of(what.into);
    // Between blocks there may be what belongs to others.
    if (what.what != collective::allgatherv) {
        std::memset(what.into, garbage, out.bytes);
        return;
    }
    for (rank_t i = 0; i < ranks; ++i) {
        if (what.counts[i] == 0) continue;
        std::memset(const_cast<std::byte*>(base) + what.places[i] * what.element, garbage,
                    what.counts[i] * what.element);
    }
}

void meeting::enter(rank_t place, schedule::step& asked) {
    steps_[place] = &asked;
    complete_ = ++present_ == ranks();
}

bool meeting::leave(rank_t place) noexcept {
    steps_[place] = nullptr;
    return --present_ == 0;
}

bool meeting::agrees() const noexcept {
    const call& first = call_of(0);
    for (rank_t place = 0; place < ranks(); ++place) {
        const call& other = call_of(place);
        if (other.what != first.what || other.element != first.element || other.root != first.root)
            return false;
        if (has_counts(first.what) ? !std::equal(first.counts, first.counts + ranks(), other.counts)
                                   : other.count != first.count)
            return false;
    }
    return is_known(first.what) && first.root < ranks();
}

void meeting::read() {
    read_ = true;
    inputs_.resize(ranks());
    for (rank_t place = 0; place < ranks(); ++place) {
        const range in = input_of(call_of(place), place, ranks());
        inputs_[place].assign(in.begin, in.begin + in.bytes);
    }
    if (takes_operator(call_of(0).what)) reduce();
}

// As the engine does: all of it is complete, an average is divided.
void meeting::reduce() {
    const call& what = call_of(0);
    std::vector<const void*> sources;
    for (const std::vector<std::byte>& each : inputs_)
        sources.push_back(each.data());
    reduced_.resize(inputs_[0].size());
    if (reduced_.empty()) return;
    what.how->combine(reduced_.data(), sources.data(), sources.size(),
                      reduced_.size() / what.element, true);
}

std::span<const std::byte> meeting::piece(rank_t of, std::size_t offset,
                                          std::size_t bytes) const noexcept {
    return {inputs_[of].data() + offset, bytes};
}

void meeting::put(rank_t place, std::size_t offset,
                  std::span<const std::byte> what) const noexcept {
    if (!what.empty())
        std::memcpy(algo::bytes_of(call_of(place).into) + offset, what.data(), what.size());
}

void meeting::write(rank_t place) const noexcept {
    const call& what = call_of(place);
    if (output_of(what, place, ranks()).bytes == 0) return;
    const std::size_t begin = begin_of(what, place) * what.element;
    const std::size_t bytes = count_of(what, place) * what.element;
    if (takes_operator(what.what)) {
        const bool all = what.what == collective::reduce || what.what == collective::allreduce;
        put(place, 0, std::span(reduced_).subspan(all ? 0 : begin, bytes));
    } else if (what.what == collective::bcast) {
        put(place, 0, piece(what.root, 0, bytes));
    } else if (what.what == collective::scatter) {
        put(place, 0, piece(what.root, begin, bytes));
    } else {
        for (rank_t i = 0; i < ranks(); ++i) {
            const std::size_t from = what.what == collective::alltoall ? begin : 0;
            put(place, begin_of(what, i) * what.element,
                piece(i, from, count_of(what, i) * what.element));
        }
    }
}

}  // namespace ucg::sim
