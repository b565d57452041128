#include "ucg/moe/routed_dispatch.hpp"

#include <utility>

#include "ucg/schedule/require.hpp"

namespace ucg::moe {

using schedule::member;
using schedule::require;
using schedule::task;

ucs_status_t routed_dispatch::init(std::shared_ptr<const team> of, const const_matrix& topk,
                                   const settings& by, const dispatch_tensors& what,
                                   std::uint32_t alignment) noexcept {
    what_ = what;
    alignment_ = alignment;
    refused_ = routing_.init(std::move(of), topk, by);
    if (refused_ == UCS_OK)
        refused_ = dispatch::check_form(what_, routing_.chosen(), alignment_ != 0);
    return refused_;
}

std::uint64_t routed_dispatch::form() const noexcept {
    if (refused_ != UCS_OK) return 0;
    return record(what_.from).mixed_into(form_hash().with(routing_.form())).not_zero();
}

void routed_dispatch::prepare() noexcept {
    made_ = routing_.take();
    if (alignment_ != 0) {
        ucs::result<expansion> made = expansion::make(made_->in, alignment_);
        refused_ = made.status();
        if (!made) return;
        expanded_ = *std::move(made);
    }
    what_.into.expanded = expanded();
    refused_ = moving_.init(made_, what_);
}

task routed_dispatch::run(member& me) noexcept {
    return run_both(me, *this);
}

task routed_dispatch::run_both(member& me, routed_dispatch& of) {
    co_await require(me, of.refused_);
    task first = of.routing_.run(me);
    co_await first;
    of.prepare();
    co_await require(me, of.refused_);
    task second = of.moving_.run(me);
    co_await second;
}

}  // namespace ucg::moe
