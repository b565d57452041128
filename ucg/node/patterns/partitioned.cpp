#include "ucg/node/patterns/partitioned.hpp"

#include <cstring>

namespace ucg::node {
namespace {

// Computes the bytes of a slot that the longest chunks take with a given number of segments. Each
// chunk begins at a cache line, unless all fit a mailbox together.
struct packing {
    const call& args;
    const geometry& layout;
    bool is_tight;

    [[nodiscard]] std::size_t chunk_bytes(rank_t rank, std::uint64_t segments) const noexcept {
        const std::size_t bytes =
            (block_count(args, rank) + segments - 1) / segments * args.element;
        return is_tight ? bytes : round_up(bytes, line);
    }
    [[nodiscard]] std::size_t bytes_of_all(std::uint64_t segments) const noexcept {
        std::size_t sum = 0;
        for (rank_t rank = 0; rank < layout.ranks; ++rank)
            sum += chunk_bytes(rank, segments);
        return sum;
    }
};

// Returns nearly the fewest segments of which none takes more than `max_bytes`. No chunk is cut to
// less than a line, for which every slot has room.
std::uint64_t segments_for(const packing& packed, std::size_t max_bytes) noexcept {
    const std::uint64_t longest = longest_block(packed.args, packed.layout.ranks);
    const std::uint64_t min_elements = std::max<std::uint64_t>(line / packed.args.element, 1);
    const std::uint64_t limit =
        std::max<std::uint64_t>((longest + min_elements - 1) / min_elements, 1);
    std::uint64_t segments =
        std::max<std::uint64_t>((packed.bytes_of_all(1) + max_bytes - 1) / max_bytes, 1);
    while (segments < limit && packed.bytes_of_all(segments) > max_bytes)
        segments += segments / 16 + 1;
    return std::min(segments, limit);
}

}  // namespace

bool partitioned::fits(const call& args, const geometry& layout) noexcept {
    return round_up(args.element, line) <= layout.longest_segment() / layout.ranks;
}

partitioned::partitioned(const call& args, const numa_domains& domains, const geometry& layout,
                         const tuning& params, std::pmr::memory_resource* memory)
    : pattern(args, domains), blocks_(memory), offsets_(memory) {
    packing packed{args, layout, true};
    const std::size_t min_bytes = round_up(args.element, line) * layout.ranks;
    const std::size_t max_bytes = segment_for(packed.bytes_of_all(1), min_bytes, layout, params);
    packed.is_tight =
        packed.bytes_of_all(1) <= std::min<std::size_t>(max_bytes, layout.mailbox_bytes);
    plan_.segments = segments_for(packed, max_bytes);
    await_all();
    blocks_ = chunked_blocks(args, ranks_, plan_.segments, memory);
    offsets_.reserve(ranks_);
    for (rank_t rank = 0; rank < ranks_; ++rank) {
        offsets_.push_back(plan_.bytes);
        plan_.bytes += packed.chunk_bytes(rank, plan_.segments);
    }
    const bool gets_all = args.kind == schedule::collective::alltoall;
    set_result_bytes(args.count * args.element * (gets_all ? ranks_ : 1), params.nontemporal_bytes);
}

void partitioned::give_others(const std::byte* all, std::uint64_t segment,
                              const segment_buffers& buffers) noexcept {
    std::byte* const slot = buffers.data(me_);
    for (rank_t to = 0; to < ranks_; ++to)
        if (to != me_)
            buffers.put(slot + offsets_[to], all + offset_in_buffer(to, segment),
                        bytes(to, segment));
}

void partitioned::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    give_others(input(), segment, buffers);
}

void all_to_all::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    partitioned::give(segment, buffers);
    if (args_.in_place) return;
    const std::size_t own = offset_in_buffer(me_, segment);
    deliver(output() + own, input() + own, bytes(me_, segment));
}

void all_to_all::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    if (bytes(me_, segment) == 0) return;
    for (const rank_t peer : domains_.peers())
        deliver(output() + offset_in_buffer(peer, segment), from(peer, buffers),
                bytes(peer, segment));
}

// In place, the result overwrites the beginning of the input. If the first block is at least as
// long as the own one, that input was given before, in the same segment, and the result does not
// reach the own block.
reduce_scatter::reduce_scatter(const call& args, const numa_domains& domains,
                               const geometry& layout, const tuning& params,
                               std::pmr::memory_resource* memory)
    : partitioned(args, domains, layout, params, memory), sources_(memory) {
    sources_.reserve(layout.ranks);
    if (block_count(args, me_) == 0) take_nothing();
    if (args.in_place && me_ != 0 && block_count(args, me_) > block_count(args, 0))
        spare_.reset(new std::byte[block_count(args, me_) * args.element]);
}

void reduce_scatter::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    sources_.clear();
    for (rank_t rank = 0; rank < ranks_; ++rank)
        sources_.push_back(rank == me_ ? input() + offset_in_buffer(me_, segment)
                                       : from(rank, buffers));
    reduce_sources(segment);
}

void reduce_scatter::reduce_sources(std::uint64_t segment) noexcept {
    std::byte* const into = spare_ != nullptr ? spare_.get() : output();
    args_.op->combine(into + offset_in_block(me_, segment), sources_.data(), sources_.size(),
                      bytes(me_, segment) / args_.element, true);
    if (spare_ != nullptr && segment + 1 == plan_.segments)
        std::memcpy(output(), spare_.get(), offset_in_block(me_, plan_.segments));
}

scatter::scatter(const call& args, const numa_domains& domains, const geometry& layout,
                 const tuning& params, std::pmr::memory_resource* memory)
    : partitioned(args, domains, layout, params, memory) {
    if (me_ == args.root)
        take_nothing();
    else
        plan_.awaits[0] = root();
}

void scatter::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    if (me_ != args_.root) return;
    const auto* const all = static_cast<const std::byte*>(args_.from);
    give_others(all, segment, buffers);
    if (!args_.in_place)
        deliver(output() + offset_in_block(me_, segment), all + offset_in_buffer(me_, segment),
                bytes(me_, segment));
}

void scatter::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    deliver(output() + offset_in_block(me_, segment), from(args_.root, buffers),
            bytes(me_, segment));
}

}  // namespace ucg::node
