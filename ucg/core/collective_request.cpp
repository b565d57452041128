#include "ucg/core/collective_request.hpp"

#include <utility>

#include "ucg/core/group.hpp"
#include "ucs/sys/process.hpp"

namespace ucg {

using schedule::collective;
using schedule::rank_t;

std::unique_ptr<collective_request> collective_request::make(group& of,
                                                             const ucg_coll_args_t& args) {
    auto read = arguments::read(args, of.rank(), of.size());
    const ucs_status_t refused = read.status();
    std::unique_ptr<collective_request> made(
        new collective_request(of, args, read ? std::move(*read) : arguments()));
    made->refused_ = refused != UCS_OK ? refused : made->prepare();
    if (made->refused_ != UCS_OK)
        made->prepare_blindly();
    else
        made->refused_ = arguments::check_own(args, of.rank(), of.size());
    return made;
}

ucs_status_t collective_request::prepare() {
    group& in = of();
    checked_.what.sizes = in.of().sizes();
    const std::string wanted = args_.algorithm != nullptr ? args_.algorithm : "";
    bool engine = false;
    if (in.engine() != nullptr && in.where().nodes() == 1) {
        near_.emplace(*in.engine());
        const ucs_status_t status = near_->init(checked_.what);
        if (status != UCS_OK && status != UCS_ERR_UNSUPPORTED) return status;
        engine = status == UCS_OK;
    }
    const schedule::shape shape = in.shape_of(checked_.what, checked_.bytes);
    const auto chosen = in.of().selector().choose(
        {checked_.what, shape, in.links(), checked_.deterministic, engine, wanted});
    if (!chosen) return chosen.status();
    choice_ = *chosen;
    if (choice_.by == nullptr) {
        choice_.reason += "; " + near_->way();
        near_->on_end(
            [](node::operation& ended, void* self) {
                static_cast<collective_request*>(self)->end(ended.status());
            },
            this);
        return UCS_OK;
    }
    near_.reset();
    spread();
    return spread_->init(*choice_.by, checked_.what);
}

// Nobody knows how the others do it; but all that goes by messages, which is everything between
// nodes and all that the engine never does, has a number among them.
void collective_request::prepare_blindly() {
    near_.reset();
    spread_.reset();
    choice_ = {nullptr, "its arguments were refused"};
    const bool is_known = args_.coll >= 0 && args_.coll < UCG_COLL_LAST;
    if (of().where().nodes() > 1 ||
        (is_known && !node::has_patterns(static_cast<collective>(args_.coll))))
        spread();
}

void collective_request::spread() {
    spread_.emplace(of().over(), of().frames());
    spread_->on_end([](schedule::operation& ended,
                       void* self) { static_cast<collective_request*>(self)->end(ended.status()); },
                    this);
}

const char* collective_request::algorithm() const noexcept {
    return near_ || choice_.by != nullptr ? choice_.name() : "none";
}

void collective_request::begin() noexcept {
    if (const ucs_status_t why = refused(); why != UCS_OK)
        begin_failed(why);
    else if (near_)
        near_->start();
    else
        spread_->start();
}

void collective_request::abort(ucs_status_t why) noexcept {
    if (near_)
        of().engine()->fail(why);
    else if (spread_)
        spread_->fail(why);
}

void collective_request::begin_failed(ucs_status_t why) noexcept {
    if (spread_) {
        spread_->start_failed(why);
        return;
    }
    // The others wait for this rank in the engine; or nobody knows where.
    if (near_)
        of().engine()->fail(why);
    else if (of().size() > 1)
        of().give_up(why);
    end(why);
}

ucs_status_t collective_request::set_buffers(const void* from, void* into) noexcept {
    if (status() == UCS_INPROGRESS) return UCS_ERR_BUSY;
    if (refused_ != UCS_OK) return refused_;
    args_.src = from;
    args_.dst = into;
    unfit_ = arguments::check_buffers(args_, of().rank(), of().size());
    schedule::call& what = near_ ? near_->arguments() : spread_->arguments();
    what.from = args_.src;
    what.into = args_.dst;
    return unfit_;
}

std::vector<rank_t> collective_request::awaited() const {
    if (near_) return of().engine()->missing();
    return spread_ ? of().missing(*spread_) : std::vector<rank_t>();
}

signature collective_request::says() const noexcept {
    signature made{};
    made.what = static_cast<std::uint32_t>(args_.coll);
    made.refused = refused();
    if (made.refused != UCS_OK) return made;
    const schedule::call& what = checked_.what;
    made.algorithm = ucs::sys::hash_text(algorithm());
    made.flags = args_.flags & UCG_COLL_DETERMINISTIC;
    if (takes_operator(what.what)) made.op = static_cast<std::uint32_t>(args_.op);
    if (has_root(what.what)) made.root = args_.root;
    if (what.what == collective::barrier) return made;
    made.type = static_cast<std::uint32_t>(args_.type);
    made.element = static_cast<std::uint32_t>(what.element);
    if (!has_block_counts(what.what)) made.count = args_.count;
    return made;
}

// Of a gather or scatter in place, what the root gives itself is not moved.
shares collective_request::deals() const {
    const rank_t size = of().size(), me = of().rank(), root = args_.root;
    const bool in_place = checked_.what.in_place;
    const std::uint64_t *const out = args_.src_counts, *const in = args_.dst_counts;
    shares made;
    if (refused() != UCS_OK || !has_block_counts(checked_.what.what)) return made;
    made.given.resize(size);
    made.taken.resize(size);
    switch (checked_.what.what) {
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
