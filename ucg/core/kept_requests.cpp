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

kept_requests::kept_requests() noexcept = default;
kept_requests::~kept_requests() = default;

void kept_requests::clear() noexcept {
    all_.clear();
}

ucs::result<collective_request*> kept_requests::get(group& of, const ucg_coll_args_t& args) {
    const auto found = std::ranges::find_if(all_, [&](const auto& each) {
        return can_be_kept(each->args()) && alike(each->args(), args) &&
               each->status() != UCS_INPROGRESS;
    });
    if (found != all_.end() && can_be_kept(args)) {
        std::rotate(all_.begin(), found, found + 1);
        collective_request& kept = *all_.front();
        if (const ucs_status_t status = kept.set_buffers(args.src, args.dst); status != UCS_OK)
            return status;
        return &kept;
    }
    auto made = collective_request::make(of, args);
    if (!made) return made.status();
    // The oldest that does not run makes room.
    if (all_.size() >= most) {
        const auto idle = std::find_if(all_.rbegin(), all_.rend(), [](const auto& each) {
            return each->status() != UCS_INPROGRESS;
        });
        if (idle != all_.rend()) all_.erase(std::next(idle).base());
    }
    all_.insert(all_.begin(), std::move(*made));
    return all_.front().get();
}

}  // namespace ucg
