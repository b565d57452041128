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

ucs::result<std::unique_ptr<collective_request>> kept_requests::take(group& of,
                                                                     const ucg_coll_args_t& args) {
    const auto found =
        std::ranges::find_if(all_, [&](const auto& each) { return alike(each->args(), args); });
    if (found == all_.end() || !can_be_kept(args)) return collective_request::make(of, args);
    if (const ucs_status_t status = (*found)->set_buffers(args.src, args.dst); status != UCS_OK)
        return status;
    auto taken = std::move(*found);
    all_.erase(found);
    return taken;
}

void kept_requests::give_back(std::unique_ptr<collective_request> what) noexcept {
    if (!can_be_kept(what->args())) return;
    if (all_.size() == most) all_.pop_back();
    all_.insert(all_.begin(), std::move(what));
}

}  // namespace ucg
