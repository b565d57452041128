#include "ucg/algo/common/ring.hpp"

namespace ucg::algo {
namespace {

// The position of a rank on the ring: its neighbours, and the rank `distance` steps before it.
struct ring_position {
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
    const ring_position ring{me.rank(), me.size()};
    for (rank_t step = 0; step + 1 < ring.size; ++step) {
        const rank_t out = ring.before(step);
        const rank_t in = ring.before(step + 1);
        co_await me.exchange(ring.right(), data.at(out), data.bytes(out), ring.left(), data.at(in),
                             data.bytes(in));
    }
}

cut ring_segments(const call& args, std::uint64_t count) noexcept {
    return segments_of(count, args.element, args.sizes.segment);
}

std::size_t ring_spare(const call& args, std::uint64_t longest) noexcept {
    return 2 * ring_segments(args, longest).longest() * args.element;
}

std::size_t ring_passing(const call& args, std::uint64_t longest) noexcept {
    const cut segments = ring_segments(args, longest);
    return segments.pieces * segments.longest() * args.element;
}

// Message i carries a segment of the block that this rank received i / segments steps ago. It was
// reduced as message i - segments of the step before. So with two segments or more, the next
// message can be in flight while this one is reduced.
task ring_reduce_scatter(member& me, const call& args, const ring_reduction& reduction) {
    const ring_position ring{me.rank(), me.size()};
    const std::uint64_t segments = reduction.longest.pieces;
    const std::uint64_t messages = (ring.size - 1) * segments;
    const std::size_t half = reduction.longest.longest() * args.element;
    struct piece {
        rank_t block;
        std::size_t place, bytes;  // in the block
        std::size_t slot;          // in `passing`; blocks, and so segments, may differ in length
        bool last;
    };
    const auto piece_of = [&](std::uint64_t message, rank_t age) {
        const rank_t block = ring.before(message / segments + age);
        const cut pieces{reduction.value.count(block), segments};
        const std::uint64_t segment = message % segments;
        return piece{block, pieces.begin(segment) * args.element,
                     pieces.size(segment) * args.element, segment * half,
                     age == 2 && message / segments + 2 == ring.size};
    };
    const auto result = [&](const piece& p) {
        if (reduction.results != nullptr) return reduction.results->at(p.block) + p.place;
        return p.last ? reduction.last + p.place : reduction.passing + p.slot;
    };
    std::array<flight, 2> moves;
    const auto begin = [&](std::uint64_t message) {
        const piece out = piece_of(message, 1);
        const piece in = piece_of(message, 2);
        const bool first = message < segments;
        moves[message % 2].exchange(
            me, ring.right(), first ? reduction.value.at(out.block) + out.place : result(out),
            out.bytes, ring.left(), reduction.spare + message % 2 * half, in.bytes);
    };
    const std::uint64_t ahead = segments > 1 ? 1 : 0;
    if (ahead != 0 && messages != 0) begin(0);
    for (std::uint64_t i = 0; i < messages; ++i) {
        if (i + ahead < messages) begin(i + ahead);
        co_await moves[i % 2];
        const piece in = piece_of(i, 2);
        co_await me.reduce(*args.op, result(in), reduction.spare + i % 2 * half,
                           reduction.value.at(in.block) + in.place, in.bytes / args.element,
                           in.last);
    }
}

}  // namespace ucg::algo
