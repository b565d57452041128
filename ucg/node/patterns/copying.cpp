#include "ucg/node/patterns/copying.hpp"

namespace ucg::node {
namespace {

algo::cut cut_of(std::uint64_t count, std::size_t element, const geometry& layout,
                 const tuning& params) noexcept {
    return algo::segments_of(count, element, segment_for(count * element, element, layout, params));
}

}  // namespace

broadcast::broadcast(const call& args, const numa_domains& domains, const geometry& layout,
                     const tuning& params) noexcept
    : pattern(args, domains), cut_(cut_of(args.count, args.element, layout, params)) {
    plan_.segments = cut_.pieces;
    plan_.bytes = cut_.longest() * args.element;
    if (me_ == args.root)
        take_nothing();
    else
        plan_.awaits[0] = root();
    set_result_bytes(args.count * args.element, params.nontemporal_bytes);
}

void broadcast::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    if (me_ != args_.root) return;
    buffers.put(buffers.data(me_), output() + cut_.begin(segment) * args_.element,
                cut_.size(segment) * args_.element);
}

void broadcast::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    deliver(output() + cut_.begin(segment) * args_.element, buffers.data(args_.root),
            cut_.size(segment) * args_.element);
}

gather::gather(const call& args, const numa_domains& domains, const geometry& layout,
               const tuning& params, std::pmr::memory_resource* memory)
    : pattern(args, domains), blocks_(memory) {
    const algo::cut longest = cut_of(longest_block(args, ranks_), args.element, layout, params);
    blocks_ = chunked_blocks(args, ranks_, longest.pieces, memory);
    plan_.segments = longest.pieces;
    plan_.bytes = longest.longest() * args.element;
    if (args.kind == schedule::collective::gather && me_ != args.root)
        take_nothing();
    else
        await_all();
    std::uint64_t all = 0;
    for (const chunked_block& each : blocks_)
        all += each.begin(plan_.segments);
    set_result_bytes(all * args.element, params.nontemporal_bytes);
}

void gather::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    const std::size_t size = bytes(me_, segment);
    const std::byte* const own_input = args_.in_place
                                           ? output_of(me_, segment)
                                           : input() + blocks_[me_].begin(segment) * args_.element;
    if (args_.kind != schedule::collective::gather || !is_receiver())
        buffers.put(buffers.data(me_), own_input, size);
    if (is_receiver() && !args_.in_place) deliver(output_of(me_, segment), own_input, size);
}

void gather::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    for (const rank_t peer : domains_.peers())
        deliver(output_of(peer, segment), buffers.data(peer), bytes(peer, segment));
}

}  // namespace ucg::node
