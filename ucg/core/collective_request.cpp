#include "ucg/core/collective_request.hpp"

#include <utility>

#include "ucg/core/group.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/log/boundary.hpp"
#include "ucs/sys/process.hpp"

namespace ucg {

using schedule::collective;
using schedule::rank_t;

std::unique_ptr<collective_request> collective_request::make(group& group,
                                                             const ucg_coll_args_t& args) {
    auto read = arguments::read(args, group.rank(), group.size());
    const ucs_status_t refused = read.status();
    std::unique_ptr<collective_request> made(
        new collective_request(group, args, read ? std::move(*read) : arguments()));
    made->refused_ = refused != UCS_OK ? refused
                                       : ucs::boundary(core_log, "preparing a collective",
                                                       [&] { return made->prepare(); });
    if (made->refused_ != UCS_OK)
        made->prepare_refused();
    else
        made->refused_ = arguments::check_own(args, group.rank(), group.size());
    return made;
}

ucs_status_t collective_request::prepare() {
    group& group = get_group();
    checked_.call.sizes = group.get_context().options().sizes();
    schedule::shape shape = group.shape_of(checked_.call, checked_.bytes);
    if (group.engine() != nullptr && group.placement().nodes() == 1) {
        on_engine_.emplace(*group.engine());
        const ucs_status_t status = on_engine_->init(checked_.call);
        if (status != UCS_OK && status != UCS_ERR_UNSUPPORTED) return status;
        shape.engine = status == UCS_OK;
    }
    const auto chosen = group.get_context().selector().choose(
        {checked_.call, shape, group.links(), checked_.deterministic,
         args_.algorithm != nullptr ? args_.algorithm : ""});
    if (!chosen) return chosen.status();
    choice_ = *chosen;
    if (choice_.is_engine()) {
        choice_.reason += "; " + on_engine_->description();
        set_work(&*on_engine_);
        return UCS_OK;
    }
    on_engine_.reset();
    scheduled_.emplace(group.fabric(), group.frames());
    set_work(&*scheduled_);
    return scheduled_->init(*choice_.algorithm, checked_.call);
}

// Must not throw: the request tells the other ranks that this rank cannot take part, for example
// for want of memory. This rank cannot know which method the others use. But every operation over
// messages has a sequence number: those between nodes, and those that the engine never does.
void collective_request::prepare_refused() noexcept {
    set_work(nullptr);
    on_engine_.reset();
    scheduled_.reset();
    choice_ = {};
    const bool is_known = args_.coll >= 0 && args_.coll < UCG_COLL_LAST;
    group& group = get_group();
    if (group.placement().nodes() > 1 ||
        (is_known && !node::has_patterns(static_cast<collective>(args_.coll)))) {
        scheduled_.emplace(group.fabric(), group.frames());
        set_work(&*scheduled_);
    }
}

const char* collective_request::algorithm() const noexcept {
    return choice_.algorithm != nullptr ? choice_.algorithm->name : "none";
}

const char* collective_request::reason() const noexcept {
    return choice_.algorithm != nullptr ? choice_.reason.c_str() : "its arguments were refused";
}

void collective_request::begin() noexcept {
    if (const ucs_status_t why = refused(); why != UCS_OK)
        begin_failed(why);
    else
        work()->start();
}

ucs_status_t collective_request::set_buffers(const void* from, void* into) noexcept {
    if (status() == UCS_INPROGRESS) return UCS_ERR_BUSY;
    if (refused_ != UCS_OK) return refused_;
    args_.src = from;
    args_.dst = into;
    unfit_ = arguments::check_buffers(args_, get_group().rank(), get_group().size());
    schedule::call& call = work()->arguments();
    call.from = args_.src;
    call.into = args_.dst;
    return unfit_;
}

signature collective_request::get_signature() const noexcept {
    signature made{};
    made.operation = static_cast<std::uint32_t>(args_.coll);
    made.refused = refused();
    if (made.refused != UCS_OK) return made;
    const schedule::call& call = checked_.call;
    made.algorithm = ucs::sys::hash_text(algorithm());
    made.flags = args_.flags & UCG_COLL_DETERMINISTIC;
    if (traits_of(call.kind).reduces) made.op = static_cast<std::uint32_t>(args_.op);
    if (traits_of(call.kind).has_root()) made.root = args_.root;
    if (call.kind == collective::barrier) return made;
    made.type = static_cast<std::uint32_t>(args_.type);
    made.element = static_cast<std::uint32_t>(call.element);
    if (!traits_of(call.kind).has_counts) made.count = args_.count;
    return made;
}

// In a gather or scatter in place, the root's own block is not moved.
shares collective_request::get_shares() const {
    const rank_t size = get_group().size(), me = get_group().rank(), root = args_.root;
    const bool in_place = checked_.call.in_place;
    const std::uint64_t *const out = args_.src_counts, *const in = args_.dst_counts;
    shares made;
    if (refused() != UCS_OK || !traits_of(checked_.call.kind).has_counts) return made;
    made.given.resize(size);
    made.taken.resize(size);
    switch (checked_.call.kind) {
        case collective::gatherv:
            if (me == root) made.taken.assign(in, in + size);
            made.given[root] = in_place ? made.taken[root] : args_.count;
            break;
        case collective::scatterv:
            if (me == root) made.given.assign(out, out + size);
            made.taken[root] = in_place ? made.given[root] : args_.count;
            break;
        case collective::alltoallv:
            made.taken.assign(in, in + size);
            made.given = in_place ? made.taken : std::vector(out, out + size);
            break;
        case collective::allgatherv:
            made.taken.assign(in, in + size);
            made.given.assign(size, in[me]);
            break;
        default:  // reduce_scatter
            made.given.assign(in, in + size);
            made.taken.assign(size, in[me]);
            break;
    }
    return made;
}

}  // namespace ucg
