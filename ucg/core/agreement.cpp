#include "ucg/core/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ucg/algo/table.hpp"
#include "ucg/core/group.hpp"
#include "ucg/core/log.hpp"
#include "ucg/core/program_kind.hpp"

namespace ucg {

using schedule::collective;

namespace {

const char* difference(const signature& one, const signature& other) noexcept {
    if (one.counts == other.counts) return "";
    return one.what >= signature::program && one.what == other.what
               ? " with other tensors, types or numbers"
               : " with other counts";
}

}  // namespace

void agreement::compare(request& what) noexcept {
    try {
        queue_.push_back({&what});
    } catch (const std::bad_alloc&) {
        what.end(UCS_ERR_NO_MEMORY);
        return;
    }
    if (queue_.size() == 1) begin();
}

void agreement::begin() noexcept {
    request& first = *queue_.front().which;
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    try {
        mine_ = first.says();
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
    // Who was stopped while it waited does not wait for the others, who may never come.
    if (const ucs_status_t stopped = queue_.front().stopped; stopped != UCS_OK)
        round_->start_failed(stopped);
    else
        round_->start();
}

void agreement::on_end(schedule::operation& ended, void* self) noexcept {
    auto& of = *static_cast<agreement*>(self);
    request& first = *of.queue_.front().which;
    ucs_status_t status = ended.status();
    ucs_status_t judged = UCS_OK;
    try {
        if (status == UCS_OK) judged = of.judge();
    } catch (const std::bad_alloc&) {
        status = UCS_ERR_NO_MEMORY;
    }
    if (status != UCS_OK) {
        // Others may have heard all, and run it: it has its number here, too.
        first.skip(status);
        return;
    }
    if (judged != UCS_OK) {
        of.take_number(judged);
        first.end(judged);
        return;
    }
    first.run();
}

// Who did not hear all cannot know that nobody runs the operation, and has given it its number.
// It may be one for the node's engine here: so it is not the request that gets the number.
void agreement::take_number(ucs_status_t why) noexcept {
    not_run_.emplace(group_.over(), group_.frames());
    not_run_->start_failed(why);
}

// Who refused its own arguments has said why.
ucs_status_t agreement::find_refusal() const noexcept {
    const auto found =
        std::ranges::find_if(all_, [](const signature& each) { return each.refused != UCS_OK; });
    if (found == all_.end()) return UCS_OK;
    const bool known = found->refused < 0 && found->refused > UCS_ERR_LAST;
    const auto why = known ? static_cast<ucs_status_t>(found->refused) : UCS_ERR_IO_ERROR;
    const auto rank = static_cast<schedule::rank_t>(found - all_.begin());
    if (rank != group_.rank())
        ucs::log::error(core_log, "rank {} cannot do what it was asked for: {}", rank,
                        ucs_status_string(why));
    return why;
}

// The same answer on every rank, since all see the same.
ucs_status_t agreement::judge() const {
    if (const ucs_status_t refused = find_refusal(); refused != UCS_OK) return refused;
    const auto text = [](const signature& of) {
        if (of.what >= signature::program)
            return std::string(name(static_cast<program_kind>(of.what - signature::program)));
        return fmt::format("{} of {} {} with {}, root {}",
                           ucg_coll_name(static_cast<ucg_coll_t>(of.what)), of.count,
                           ucg_type_name(static_cast<ucg_type_t>(of.type)),
                           ucg_op_name(static_cast<ucg_op_t>(of.op)), of.root);
    };
    ucs_status_t status = UCS_OK;
    for (std::size_t rank = 1; rank < all_.size(); ++rank) {
        if (all_[rank].fits(all_[0])) continue;
        status = UCS_ERR_INVALID_PARAM;
        if (group_.rank() != 0 && group_.rank() != rank) continue;  // those concerned say it
        ucs::log::error(core_log, "rank {} calls {}, rank 0 calls {}{}", rank, text(all_[rank]),
                        text(all_[0]), difference(all_[rank], all_[0]));
    }
    return status;
}

void agreement::next(request& ended) noexcept {
    if (queue_.empty() || queue_.front().which != &ended) return;
    queue_.pop_front();
    if (!queue_.empty()) begin();
}

void agreement::stop(request& what, ucs_status_t why) noexcept {
    const auto found = std::ranges::find(queue_, &what, &entry::which);
    if (found == queue_.end()) return;
    if (found == queue_.begin())
        round_->fail(why);
    else
        found->stopped = why;
}

}  // namespace ucg
