#include "ucg/algo/common/ring.hpp"

namespace ucg::algo {
namespace {

// The neighbours, and the block that is so many ranks before this one's.
struct ring_place {
    rank_t rank;
    rank_t size;
    [[nodiscard]] rank_t right() const noexcept { return (rank + 1) % size; }
    [[nodiscard]] rank_t left() const noexcept { return before(1); }
    [[nodiscard]] rank_t before(std::uint64_t distance) const noexcept {
        return static_cast<rank_t>((rank + size - distance % size) % size);
    }
};

}  // namespace

task ring_allgather(member& me, const blocks<std::byte>& data) {
    const ring_place at{me.rank(), me.size()};
    for (rank_t step = 0; step + 1 < at.size; ++step) {
        const rank_t out = at.before(step);
        const rank_t in = at.before(step + 1);
        co_await me.exchange(at.right(), data.at(out), data.bytes(out), at.left(), data.at(in),
                             data.bytes(in));
    }
}

cut ring_segments(const call& what, std::uint64_t count) noexcept {
    return segments_of(count, what.element, what.sizes.segment);
}

std::size_t ring_spare(const call& what, std::uint64_t longest) noexcept {
    return 2 * ring_segments(what, longest).longest() * what.element;
}

std::size_t ring_passing(const call& what, std::uint64_t longest) noexcept {
    const cut segments = ring_segments(what, longest);
    return segments.pieces * segments.longest() * what.element;
}

// Message i carries a segment of the block that is so many steps old. It was reduced, as message
// i - segments of the step before: so with two segments or more, the next message can be on its way
// while this one is reduced.
task ring_reduce_scatter(member& me, const call& what, const ring_reduction& of) {
    const ring_place at{me.rank(), me.size()};
    const std::uint64_t segments = of.longest.pieces;
    const std::uint64_t messages = (at.size - 1) * segments;
    const std::size_t half = of.longest.longest() * what.element;
    struct piece {
        rank_t block;
        std::size_t place, bytes;  // in the block
        std::size_t slot;  // in `passing`: blocks may differ in length, and segments with them
        bool last;
    };
    const auto piece_of = [&](std::uint64_t message, rank_t age) {
        const rank_t block = at.before(message / segments + age);
        const cut pieces{of.value.count(block), segments};
        const std::uint64_t segment = message % segments;
        return piece{block, pieces.begin(segment) * what.element,
                     pieces.size(segment) * what.element, segment * half,
                     age == 2 && message / segments + 2 == at.size};
    };
    const auto result = [&](const piece& p) {
        if (of.results != nullptr) return of.results->at(p.block) + p.place;
        return p.last ? of.last + p.place : of.passing + p.slot;
    };
    std::array<flight, 2> moves;
    const auto begin = [&](std::uint64_t message) {
        const piece out = piece_of(message, 1);
        const piece in = piece_of(message, 2);
        const bool first = message < segments;
        moves[message % 2].exchange(me, at.right(),
                                    first ? of.value.at(out.block) + out.place : result(out),
                                    out.bytes, at.left(), of.spare + message % 2 * half, in.bytes);
    };
    const std::uint64_t ahead = segments > 1 ? 1 : 0;
    if (ahead != 0 && messages != 0) begin(0);
    for (std::uint64_t i = 0; i < messages; ++i) {
        if (i + ahead < messages) begin(i + ahead);
        co_await moves[i % 2];
        const piece in = piece_of(i, 2);
        co_await me.reduce(*what.how, result(in), of.spare + i % 2 * half,
                           of.value.at(in.block) + in.place, in.bytes / what.element, in.last);
    }
}

}  // namespace ucg::algo
