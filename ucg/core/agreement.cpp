#include "ucg/core/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ucg/algo/table.hpp"
#include "ucg/core/group.hpp"
#include "ucg/core/log.hpp"
#include "ucg/core/request.hpp"
#include "ucs/sys/uuid.hpp"

namespace ucg {

using schedule::collective;

agreement::said agreement::say(const request& what) noexcept {
    const ucg_coll_args_t& args = what.args();
    said made{};
    made.coll = static_cast<std::uint32_t>(args.coll);
    made.flags = args.flags & UCG_COLL_DETERMINISTIC;
    made.type = static_cast<std::uint32_t>(args.type);
    made.element = static_cast<std::uint32_t>(what.checked().what.element);
    made.op = what.checked().how != nullptr ? static_cast<std::uint32_t>(args.op) : 0;
    switch (static_cast<collective>(args.coll)) {
        case collective::bcast:
        case collective::reduce:
        case collective::gather:
        case collective::scatter:
            made.root = args.root;
            made.count = args.count;
            break;
        case collective::gatherv:
        case collective::scatterv:
            made.root = args.root;
            break;
        case collective::allgatherv:
        case collective::reduce_scatter:
            for (schedule::rank_t i = 0; i < what.of().size(); ++i)
                made.counts = ucs::sys::mix(made.counts ^ args.dst_counts[i]);
            break;
        case collective::barrier:
        case collective::alltoallv:
            break;
        default:
            made.count = args.count;
            break;
    }
    return made;
}

void agreement::compare(request& what) noexcept {
    try {
        queue_.push_back(&what);
    } catch (const std::bad_alloc&) {
        what.end(UCS_ERR_NO_MEMORY);
        return;
    }
    if (queue_.size() == 1) begin();
}

void agreement::begin() noexcept {
    request& first = *queue_.front();
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    try {
        mine_ = say(first);
        all_.resize(group_.size());
        schedule::call what;
        what.what = collective::allgather;
        what.from = &mine_;
        what.into = all_.data();
        what.count = sizeof mine_;
        round_.emplace(group_.over(), group_.frames());
        status =
            round_->init(algo::choose(what, group_.shape_of(what), group_.links(), false), what);
    } catch (const std::bad_alloc&) {
    }
    if (status != UCS_OK) {
        first.end(status);
        return;
    }
    round_->on_end(on_end, this);
    round_->start();
}

void agreement::on_end(schedule::operation& ended, void* self) noexcept {
    auto& of = *static_cast<agreement*>(self);
    request& first = *of.queue_.front();
    ucs_status_t status = ended.status();
    try {
        if (status == UCS_OK) status = of.judge();
    } catch (const std::bad_alloc&) {
        status = UCS_ERR_NO_MEMORY;
    }
    if (status != UCS_OK) {
        first.end(status);
        return;
    }
    first.run();
}

// The same answer on every rank, since all see the same.
ucs_status_t agreement::judge() const {
    const auto text = [](const said& of) {
        return fmt::format("{} of {} {} with {}, root {}",
                           ucg_coll_name(static_cast<ucg_coll_t>(of.coll)), of.count,
                           ucg_type_name(static_cast<ucg_type_t>(of.type)),
                           ucg_op_name(static_cast<ucg_op_t>(of.op)), of.root);
    };
    const auto same = [](const said& a, const said& b) {
        return a.coll == b.coll && a.flags == b.flags && a.type == b.type && a.op == b.op &&
               a.root == b.root && a.element == b.element && a.count == b.count &&
               a.counts == b.counts;
    };
    ucs_status_t status = UCS_OK;
    for (std::size_t rank = 1; rank < all_.size(); ++rank) {
        if (same(all_[rank], all_[0])) continue;
        status = UCS_ERR_INVALID_PARAM;
        if (group_.rank() != 0 && group_.rank() != rank) continue;  // those concerned say it
        ucs::log::error(core_log, "rank {} calls {}, rank 0 calls {}{}", rank, text(all_[rank]),
                        text(all_[0]),
                        all_[rank].counts != all_[0].counts ? " with other counts" : "");
    }
    return status;
}

void agreement::next(request& ended) noexcept {
    if (queue_.empty() || queue_.front() != &ended) return;
    queue_.pop_front();
    if (!queue_.empty()) begin();
}

void agreement::stop(request& what, ucs_status_t why) noexcept {
    if (!queue_.empty() && queue_.front() == &what) {
        round_->fail(why);
    } else {
        // The others will compare it, so it fails when its turn comes: by those before it.
        for (request* const each : std::deque<request*>(queue_))
            if (each != &what && each->status() == UCS_INPROGRESS) {
                each->fail(why);
                return;
            }
    }
}

}  // namespace ucg
