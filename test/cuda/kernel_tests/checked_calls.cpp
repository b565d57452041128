#include "test/cuda/kernel_tests/checked_calls.hpp"

#include <algorithm>

namespace kernel_tests {
namespace {

using ucg::cuda::kernel;
using ucg::schedule::collective;

constexpr std::size_t margin = 64;  // bytes on each side of a buffer, which nothing may change
constexpr std::byte untouched{0x5a};

collective collective_of(kernel run) {
    switch (run) {
        case kernel::barrier:
            return collective::barrier;
        case kernel::broadcast:
        case kernel::broadcast_in_parts:
            return collective::bcast;
        case kernel::allgather:
            return collective::allgather;
        case kernel::alltoall:
            return collective::alltoall;
        case kernel::allreduce_one_shot:
        case kernel::allreduce_two_shot:
            return collective::allreduce;
        case kernel::reduce_scatter:
            return collective::reduce_scatter_block;
    }
    return collective::barrier;
}

}  // namespace

checked_call::checked_call(local_node& node, const call& wanted)
    : node_(node), call_(wanted), buffers_(node.ranks()) {
    if (wanted.type != UCG_TYPE_OPAQUE)
        call_.element_bytes = static_cast<std::uint32_t>(
            ucg::reduce::size_of(static_cast<ucg::reduce::element>(wanted.type)));
    for (std::uint32_t rank = 0; rank < node.ranks(); ++rank)
        prepare(rank);
}

std::byte* checked_call::address_in(std::vector<std::byte>& buffer) const noexcept {
    return buffer.data() + margin + call_.misalignment;
}

void checked_call::prepare(std::uint32_t rank) {
    rank_buffers& own = buffers_[rank];
    ucg::reference::problem problem;
    problem.kind = collective_of(call_.run);
    problem.ranks = node_.ranks();
    problem.count = call_.count;
    problem.root = call_.root;
    problem.in_place = call_.in_place;
    own.layout = make_layout(problem, rank);
    ucg::reference::elements elements;
    elements.type = call_.type;
    elements.op = call_.op;
    elements.bytes = call_.element_bytes;
    own.content =
        std::make_unique<ucg::reference::content>(own.layout, elements, rank, node_.ranks());
    const std::size_t around = 2 * margin + call_.misalignment;
    own.source.assign(own.layout.source_elements * call_.element_bytes + around, untouched);
    own.target.assign(own.layout.target_elements * call_.element_bytes + around, untouched);

    parameters args = node_.base(rank);
    args.run = call_.run;
    args.root = call_.root;
    args.count = call_.count;
    args.element_bytes = call_.element_bytes;
    args.type = static_cast<ucg::reduce::element>(call_.type);
    args.op = static_cast<ucg::reduce::operation>(call_.op);
    args.into = address_in(own.target);
    args.from = address_in(own.source);
    if (own.layout.input_in_target) {
        const std::uint64_t first =
            call_.run == kernel::allgather ? own.layout.given.front().offset : 0;
        args.from = address_in(own.target) + first * call_.element_bytes;
    }
    launches_.push_back(args);
}

bool checked_call::has_clean_margins(const rank_buffers& of_rank) const {
    const auto is_clean = [this](const std::vector<std::byte>& buffer) {
        const auto same = [](std::byte each) { return each == untouched; };
        const auto begin = static_cast<std::ptrdiff_t>(margin + call_.misalignment);
        return std::all_of(buffer.begin(), buffer.begin() + begin, same) &&
               std::all_of(buffer.end() - margin, buffer.end(), same);
    };
    return is_clean(of_rank.source) && is_clean(of_rank.target);
}

std::optional<std::string> checked_call::run(std::uint64_t round, const shape& launched) {
    for (rank_buffers& each : buffers_)
        each.content->write(address_in(each.source), address_in(each.target), round);
    if (auto failure = node_.run(launches_, launched)) return failure;
    for (std::uint32_t rank = 0; rank < node_.ranks(); ++rank) {
        rank_buffers& own = buffers_[rank];
        const std::string place = "rank " + std::to_string(rank) + ": ";
        if (const auto reason = node_.report(rank).reason; reason != ucg::cuda::failure::none)
            return place + "failure " + std::to_string(static_cast<int>(reason));
        if (auto error = own.content->find_error(address_in(own.target), round))
            return place + *error;
        if (!has_clean_margins(own)) return place + "bytes around a buffer changed";
    }
    return std::nullopt;
}

}  // namespace kernel_tests
