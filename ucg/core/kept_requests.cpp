#include "ucg/core/kept_requests.hpp"

#include <algorithm>

#include "ucg/core/collective_request.hpp"

namespace ucg {
namespace {

// Arrays may have other content although they lie in the same place, and an operator's text is the
// program's: such calls are prepared anew.
bool can_be_kept(const ucg_coll_args_t& args) noexcept {
    return args.src_counts == nullptr && args.dst_counts == nullptr && args.op != UCG_OP_USER &&
           args.algorithm == nullptr;
}

// Whose schedule may hold as much memory as the program's data: one of them is kept.
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
    all_.reserve(most);
}
kept_requests::~kept_requests() = default;

void kept_requests::clear() noexcept {
    all_.clear();
}

collective_request& kept_requests::take(group& of, const ucg_coll_args_t& args) {
    const bool may_be_kept = can_be_kept(args);
    for (std::size_t i = 0; may_be_kept && i < all_.size(); ++i) {
        collective_request& found = *all_[i].what;
        if (all_[i].taken || !alike(found.args(), args)) continue;
        // Buffers that are refused end the call when it starts.
        if (found.args().src != args.src || found.args().dst != args.dst)
            static_cast<void>(found.set_buffers(args.src, args.dst));
        all_[i].taken = true;
        // What is often asked for comes to the front, and what is not to the end.
        if (i != 0) std::swap(all_[i], all_[i / 2]);
        return found;
    }
    all_.push_back({collective_request::make(of, args), true});
    return *all_.back().what;
}

void kept_requests::give_back(collective_request& what) noexcept {
    const auto its =
        std::ranges::find_if(all_, [&](const seat& each) { return each.what.get() == &what; });
    its->taken = false;
    if (what.refused() != UCS_OK || !can_be_kept(what.args())) {
        all_.erase(its);
    } else if (is_long(what.args())) {
        std::erase_if(all_, [&](const seat& each) {
            return !each.taken && each.what.get() != &what && is_long(each.what->args());
        });
    } else if (all_.size() > most) [[unlikely]] {
        const auto last = std::ranges::find_if(all_.rbegin(), all_.rend(),
                                               [](const seat& each) { return !each.taken; });
        all_.erase(std::next(last).base());
    }
}

}  // namespace ucg
