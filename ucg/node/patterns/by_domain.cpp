#include "ucg/node/patterns/by_domain.hpp"

// These patterns divide slots into parts, so segments are long for every vector.
namespace ucg::node {
namespace {

using schedule::collective;

bool has_level(collective type) noexcept {
    return type == collective::bcast || type == collective::reduce ||
           type == collective::allreduce || type == collective::allgather ||
           type == collective::allgatherv || type == collective::reduce_scatter ||
           type == collective::reduce_scatter_block;
}

// Returns the elements of the whole vector.
std::uint64_t elements(const call& args, rank_t ranks) noexcept {
    if (!traits_of(args.kind).has_blocks()) return args.count;
    std::uint64_t all = 0;
    for (rank_t rank = 0; rank < ranks; ++rank)
        all += block_count(args, rank);
    return all;
}

// Returns the most chunks that a slot holds: the own one and those that a helper fetches.
std::size_t most_chunks(const numa_domains& domains, std::pmr::memory_resource* memory) {
    std::pmr::vector<std::uint32_t> chunks(domains.ranks(), 1, memory);
    for (rank_t domain = 0; domain < domains.count(); ++domain)
        for (rank_t rank = 0; rank < domains.ranks(); ++rank)
            if (domains.domain_of(rank) != domain) ++chunks[domains.helper(domain, rank)];
    return *std::ranges::max_element(chunks);
}

// Returns whether sums of the type leave its range early. The other methods of the engine store no
// sum before its last element.
bool is_of_short_range(const call& args) noexcept {
    if (args.op == nullptr || args.op->kind() == 0) return false;
    const auto element =
        static_cast<reduce::element>((args.op->kind() - 1u) % reduce::element_count);
    return element == reduce::element::fp16 || element == reduce::element::fp8_e4m3 ||
           element == reduce::element::fp8_e5m2;
}

}  // namespace

// An element must fit the smallest part into which a pattern below divides a slot.
bool is_worthwhile_by_domain(const call& args, const numa_domains& domains, const geometry& layout,
                             const tuning& params) noexcept {
    if (!domains.has_several() || !has_level(args.kind)) return false;
    if (elements(args, domains.ranks()) * args.element < params.domain_bytes) return false;
    if (args.op != nullptr && !args.op->is_commutative() && !domains.is_in_order()) return false;
    if (is_of_short_range(args)) return false;
    return round_up(args.element, line) <= longest_segment(layout, params) / domains.ranks();
}

// --- allreduce, reduce ---

reduce_by_domain::reduce_by_domain(const call& args, const numa_domains& domains,
                                   const geometry& layout, const tuning& params,
                                   std::pmr::memory_resource* memory)
    : pattern(args, domains),
      upper_(round_up(longest_segment(layout, params) / 2, line)),
      cut_(algo::segments_of(args.count, args.element, longest_segment(layout, params) - upper_)),
      step_(std::max<std::size_t>(params.block / args.element, 1) * args.element),
      peers_(memory),
      owners_(memory),
      sources_(domains.ranks(), nullptr, memory) {
    peers_.reserve(domains.count());
    owners_.reserve(domains.smallest());
    const std::span<const rank_t> local_ranks = domains.ranks_in(domains.own());
    for (rank_t domain = 0; domain < domains.count(); ++domain)
        if (domain != domains.own() && is_owner())
            peers_.push_back(domains.ranks_in(domain)[domains.index(me_)]);
    for (rank_t share = 0; share < domains.smallest(); ++share)
        if (local_ranks[share] != me_) owners_.push_back(local_ranks[share]);
    plan_.segments = cut_.pieces;
    plan_.bytes = upper_ + cut_.longest() * args.element;
    plan_.work_stages = 2;
    if (is_owner()) plan_.awaits[0] = domains.own_peers();
    if (is_final_owner()) plan_.awaits[1] = peers_;
    if (wants_result())
        plan_.awaits[2] = owners_;
    else
        take_nothing();
    set_result_bytes(args.count * args.element, params.nontemporal_sum_bytes);
}

bool reduce_by_domain::is_final_owner() const noexcept {
    return is_owner() && (args_.kind == collective::allreduce ||
                          domains_.domain_of(args_.root) == domains_.own());
}

void reduce_by_domain::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    buffers.put(buffers.data(me_), input() + begin(segment), cut_.size(segment) * args_.element);
}

ucs_status_t reduce_by_domain::work(unsigned turn, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept {
    if (turn == 0 && is_owner()) reduce_domain(segment, buffers);
    if (turn == 1 && is_final_owner()) reduce_shares(segment, buffers);
    return UCS_OK;
}

// The result may overlap one of its sources: each element is read before it is written, and no
// other rank reads this share of this slot.
void reduce_by_domain::reduce_domain(std::uint64_t segment,
                                     const segment_buffers& buffers) noexcept {
    const std::span<const rank_t> local_ranks = domains_.ranks_in(domains_.own());
    const part own_part = share(segment, domains_.index(me_));
    for (std::size_t i = 0; i < local_ranks.size(); ++i)
        sources_[i] = buffers.data(local_ranks[i]) + own_part.begin;
    args_.op->combine(buffers.data(me_) + own_part.begin, sources_.data(), local_ranks.size(),
                      own_part.size() / args_.element, false);
}

// Reduces in blocks that stay in the nearest cache, since the result goes to two places.
void reduce_by_domain::reduce_shares(std::uint64_t segment,
                                     const segment_buffers& buffers) noexcept {
    const rank_t index = domains_.index(me_);
    const part own_part = share(segment, index);
    for (std::size_t offset = own_part.begin; offset < own_part.end; offset += step_) {
        const std::size_t size = std::min(step_, own_part.end - offset);
        for (rank_t domain = 0; domain < domains_.count(); ++domain)
            sources_[domain] = buffers.data(domains_.ranks_in(domain)[index]) + offset;
        std::byte* const result = buffers.data(me_) + upper_ + offset;
        args_.op->combine(result, sources_.data(), domains_.count(), size / args_.element, true);
        if (wants_result()) deliver(output() + begin(segment) + offset, result, size);
    }
}

void reduce_by_domain::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    for (const rank_t peer : owners_) {
        const part peer_part = share(segment, domains_.index(peer));
        deliver(output() + begin(segment) + peer_part.begin,
                buffers.data(peer) + upper_ + peer_part.begin, peer_part.size());
    }
}

// --- bcast ---

broadcast_by_domain::broadcast_by_domain(const call& args, const numa_domains& domains,
                                         const geometry& layout, const tuning& params)
    : pattern(args, domains),
      cut_(algo::segments_of(args.count, args.element, longest_segment(layout, params))) {
    plan_.segments = cut_.pieces;
    plan_.bytes = cut_.longest() * args.element;
    plan_.work_stages = 1;
    if (me_ == args.root) {
        take_nothing();
    } else {
        if (!is_near_root()) plan_.awaits[0] = root();
        plan_.awaits[1] = is_near_root() ? root() : domains.own_peers();
    }
    set_result_bytes(args.count * args.element, params.nontemporal_bytes);
}

void broadcast_by_domain::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    if (me_ != args_.root) return;
    buffers.put(buffers.data(me_), output() + cut_.begin(segment) * args_.element,
                cut_.size(segment) * args_.element);
}

ucs_status_t broadcast_by_domain::work(unsigned, std::uint64_t segment,
                                       const segment_buffers& buffers) noexcept {
    if (is_near_root()) return UCS_OK;
    const part own_part = share(segment, me_);
    if (own_part.size() != 0)
        std::memcpy(buffers.data(me_) + own_part.begin, buffers.data(args_.root) + own_part.begin,
                    own_part.size());
    return UCS_OK;
}

void broadcast_by_domain::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    std::byte* const into = output() + cut_.begin(segment) * args_.element;
    if (is_near_root()) {
        deliver(into, buffers.data(args_.root), cut_.size(segment) * args_.element);
        return;
    }
    for (const rank_t peer : domains_.ranks_in(domains_.own())) {
        const part peer_part = share(segment, peer);
        deliver(into + peer_part.begin, buffers.data(peer) + peer_part.begin, peer_part.size());
    }
}

// --- allgather, allgatherv ---

gather_by_domain::gather_by_domain(const call& args, const numa_domains& domains,
                                   const geometry& layout, const tuning& params,
                                   std::pmr::memory_resource* memory)
    : pattern(args, domains), blocks_(memory), fetched_(memory), offsets_(domains.ranks(), memory) {
    const std::size_t most = most_chunks(domains, memory);
    const std::size_t stride = longest_segment(layout, params) / most / line * line;
    fetched_.reserve(ranks_);
    const algo::cut longest = algo::segments_of(longest_block(args, ranks_), args.element, stride);
    blocks_ = chunked_blocks(args, ranks_, longest.pieces, memory);
    std::pmr::vector<std::uint32_t> used(ranks_, 1, memory);  // chunks in the slots of helpers
    for (rank_t rank = 0; rank < ranks_; ++rank) {
        if (domains.domain_of(rank) == domains.own()) continue;
        const rank_t helper = domains.helper(domains.own(), rank);
        offsets_[rank] = used[helper]++ * stride;
        if (helper == me_) fetched_.push_back(rank);
    }
    plan_.segments = longest.pieces;
    plan_.bytes = most * stride;
    plan_.work_stages = 1;
    plan_.awaits = {fetched_, domains.own_peers()};
    set_result_bytes(elements(args, ranks_) * args.element, params.nontemporal_bytes);
}

void gather_by_domain::give(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    const std::size_t size = bytes(me_, segment);
    const std::byte* const own_input = args_.in_place
                                           ? output_of(me_, segment)
                                           : input() + blocks_[me_].begin(segment) * args_.element;
    buffers.put(buffers.data(me_), own_input, size);
    if (!args_.in_place) deliver(output_of(me_, segment), own_input, size);
}

ucs_status_t gather_by_domain::work(unsigned, std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept {
    for (const rank_t peer : fetched_)
        std::memcpy(buffers.data(me_) + offsets_[peer], buffers.data(peer), bytes(peer, segment));
    return UCS_OK;
}

void gather_by_domain::take(std::uint64_t segment, const segment_buffers& buffers) noexcept {
    for (const rank_t peer : domains_.peers()) {
        const std::byte* const from =
            buffers.data(domains_.helper(domains_.own(), peer)) + offsets_[peer];
        deliver(output_of(peer, segment), from, bytes(peer, segment));
    }
}

// --- reduce_scatter ---

reduce_scatter_by_domain::reduce_scatter_by_domain(const call& args, const numa_domains& domains,
                                                   const geometry& layout, const tuning& params,
                                                   std::pmr::memory_resource* memory)
    : reduce_scatter(args, domains, layout, params, memory), helped_(memory), helpers_(memory) {
    helped_.reserve(ranks_);
    helpers_.reserve(domains.count());
    for (rank_t rank = 0; rank < ranks_; ++rank)
        if (domains.helper(domains.own(), rank) == me_) helped_.push_back(rank);
    for (rank_t domain = 0; domain < domains.count(); ++domain)
        if (domain != domains.own()) helpers_.push_back(domains.helper(domain, me_));
    plan_.work_stages = 1;
    plan_.awaits = {domains.own_peers(), helpers_};
    if (!plan_.has_take) take_nothing();
}

// Gives also the own chunk: the input must not be read once results are written.
void reduce_scatter_by_domain::give(std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept {
    reduce_scatter::give(segment, buffers);
    buffers.put(buffers.data(me_) + offset(me_), input() + offset_in_buffer(me_, segment),
                bytes(me_, segment));
}

ucs_status_t reduce_scatter_by_domain::work(unsigned, std::uint64_t segment,
                                            const segment_buffers& buffers) noexcept {
    for (const rank_t peer : helped_) {
        sources_.clear();
        for (const rank_t rank : domains_.ranks_in(domains_.own()))
            sources_.push_back(buffers.data(rank) + offset(peer));
        args_.op->combine(buffers.data(me_) + offset(peer), sources_.data(), sources_.size(),
                          bytes(peer, segment) / args_.element, false);
    }
    return UCS_OK;
}

void reduce_scatter_by_domain::take(std::uint64_t segment,
                                    const segment_buffers& buffers) noexcept {
    sources_.clear();
    for (rank_t domain = 0; domain < domains_.count(); ++domain)
        sources_.push_back(from(domains_.helper(domain, me_), buffers));
    reduce_sources(segment);
}

}  // namespace ucg::node
