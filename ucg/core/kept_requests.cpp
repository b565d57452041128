#include "ucg/core/kept_requests.hpp"

#include <algorithm>

#include "ucg/core/collective_request.hpp"

namespace ucg {
namespace {

// Arrays may have other content at the same address, and the code of a user's operator is the
// program's. Such calls are prepared each time.
bool can_be_kept(const ucg_coll_args_t& args) noexcept {
    return args.src_counts == nullptr && args.dst_counts == nullptr && args.op != UCG_OP_USER &&
           args.algorithm == nullptr;
}

// A schedule of such a call may take up as much memory as the program's data, so only one of them
// is kept.
bool is_long(const ucg_coll_args_t& args) noexcept {
    constexpr std::uint64_t most_elements = 1 << 18;
    return args.count > most_elements;
}

bool alike(const ucg_coll_args_t& a, const ucg_coll_args_t& b) noexcept {
    return a.coll == b.coll && a.count == b.count && a.type == b.type && a.op == b.op &&
           a.flags == b.flags && a.root == b.root && a.element_size == b.element_size &&
           a.timeout == b.timeout && a.src_memory == b.src_memory && a.dst_memory == b.dst_memory;
}

}  // namespace

kept_requests::kept_requests() {
    all_.reserve(max_kept);
}
kept_requests::~kept_requests() = default;

void kept_requests::clear() noexcept {
    all_.clear();
}

collective_request& kept_requests::take(group& group, const ucg_coll_args_t& args) {
    const bool may_be_kept = can_be_kept(args);
    for (std::size_t i = 0; may_be_kept && i < all_.size(); ++i) {
        collective_request& found = *all_[i].request;
        if (all_[i].taken || !alike(found.args(), args)) continue;
        // If the buffers are refused, the call ends with an error when it starts.
        if (found.args().src != args.src || found.args().dst != args.dst)
            static_cast<void>(found.set_buffers(args.src, args.dst));
        all_[i].taken = true;
        // Moves requests that are often taken to the front, and the others to the end.
        if (i != 0) std::swap(all_[i], all_[i / 2]);
        return found;
    }
    all_.push_back({collective_request::make(group, args), true});
    return *all_.back().request;
}

void kept_requests::give_back(collective_request& request) noexcept {
    const auto found = std::ranges::find_if(
        all_, [&](const entry& each) { return each.request.get() == &request; });
    found->taken = false;
    if (request.refused() != UCS_OK || !can_be_kept(request.args())) {
        all_.erase(found);
    } else if (is_long(request.args())) {
        std::erase_if(all_, [&](const entry& each) {
            return !each.taken && each.request.get() != &request && is_long(each.request->args());
        });
    } else if (all_.size() > max_kept) [[unlikely]] {
        const auto last = std::ranges::find_if(all_.rbegin(), all_.rend(),
                                               [](const entry& each) { return !each.taken; });
        all_.erase(std::next(last).base());
    }
}

}  // namespace ucg
