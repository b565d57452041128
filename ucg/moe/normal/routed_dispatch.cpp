#include "ucg/moe/normal/routed_dispatch.hpp"

#include <utility>

#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"

namespace ucg::moe {

ucs_status_t routed_dispatch::init(std::shared_ptr<const team> group, const const_matrix& topk,
                                   const settings& options, const dispatch_tensors& tensors,
                                   std::uint32_t alignment) noexcept {
    tensors_ = tensors;
    alignment_ = alignment;
    init_status_ = routing_.init(std::move(group), topk, options);
    if (init_status_ == UCS_OK)
        init_status_ = dispatch::check_form(tensors_, routing_.chosen(), alignment_ != 0);
    return init_status_;
}

std::uint64_t routed_dispatch::form() const noexcept {
    if (init_status_ != UCS_OK) return 0;
    return record(tensors_.from).mixed_into(form_hash().with(routing_.form())).not_zero();
}

ucs_status_t routed_dispatch::prepare() {
    made_ = routing_.take();
    if (alignment_ != 0) {
        ucs::result<expansion> made = expansion::make(made_->receives, alignment_);
        if (!made) return made.status();
        expanded_ = *std::move(made);
    }
    tensors_.into.expanded = expanded();
    return moving_.init(made_, tensors_);
}

task routed_dispatch::run(member& me) noexcept {
    co_await require(me, init_status_);
    task first = routing_.run(me);
    co_await first;
    init_status_ = ucs::boundary(moe_log, "dispatch", [this] { return prepare(); });
    co_await require(me, init_status_);
    task second = moving_.run(me);
    co_await second;
}

}  // namespace ucg::moe
