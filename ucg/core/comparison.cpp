#include "ucg/core/comparison.hpp"

#include <fmt/format.h>
#include <ucg/api/ucg.h>

#include <algorithm>
#include <new>
#include <utility>

#include "ucg/algo/common/ring.hpp"
#include "ucg/core/log.hpp"

namespace ucg {

using schedule::member;
using schedule::rank_t;
using schedule::task;

namespace {

// One element of each rank.
template<class Element>
algo::blocks<std::byte> of_all(std::vector<Element>& all) noexcept {
    return {algo::bytes_of(all.data()), sizeof(Element), 1};
}

void log_difference(rank_t rank, const signature& its, const signature& first) noexcept try {
    const bool other_form = its.what >= signature::program && its.what == first.what;
    ucs::log::error(core_log, "rank {} calls {}, rank 0 calls {}{}", rank, text_of(its),
                    text_of(first), other_form ? " with other tensors, types or numbers" : "");
} catch (const std::bad_alloc&) {
    ucs::log::error(core_log, "rank {} does not call what rank 0 calls", rank);
}

}  // namespace

void comparison::init(rank_t size, const signature& mine, shares dealt) {
    calls_.resize(size);
    mine_ = mine;
    dealt_ = std::move(dealt);
    offered_.resize(dealt_.given.size());
    misfits_.resize(dealt_.given.size());
}

task comparison::run(member& me) noexcept {
    calls_[me.rank()] = mine_;
    return compare(me, *this);
}

task comparison::compare(member& me, comparison& of) {
    const auto calls_of_all = of_all(of.calls_);
    task calls = algo::ring_allgather(me, calls_of_all);
    co_await calls;
    of.verdict_ = of.judge_calls(me.rank());
    // All ranks see here that they call the same.
    if (of.verdict_ != UCS_OK || of.dealt_.given.empty()) co_return;
    task counts = give_counts(me, of);
    co_await counts;
    of.misfits_[me.rank()] = of.find_misfit();
    const auto misfits_of_all = of_all(of.misfits_);
    task misfits = algo::ring_allgather(me, misfits_of_all);
    co_await misfits;
    of.verdict_ = of.judge_counts(me.rank());
}

task comparison::give_counts(member& me, comparison& of) {
    const rank_t size = me.size();
    of.offered_[me.rank()] = of.dealt_.given[me.rank()];
    for (rank_t distance = 1; distance < size; ++distance) {
        const rank_t to = (me.rank() + distance) % size;
        const rank_t from = (me.rank() + size - distance) % size;
        co_await me.exchange(to, &of.dealt_.given[to], sizeof(std::uint64_t), from,
                             &of.offered_[from], sizeof(std::uint64_t));
    }
}

// A rank that refused its own arguments has said why.
ucs_status_t comparison::judge_calls(rank_t me) const noexcept {
    const auto refused = std::ranges::find_if(
        calls_, [](const signature& each) { return each.refusal() != UCS_OK; });
    if (refused != calls_.end()) {
        const auto rank = static_cast<rank_t>(refused - calls_.begin());
        if (rank != me)
            ucs::log::error(core_log, "rank {} cannot do what it was asked for: {}", rank,
                            ucs_status_string(refused->refusal()));
        return refused->refusal();
    }
    ucs_status_t status = UCS_OK;
    for (rank_t rank = 1; rank < calls_.size(); ++rank) {
        if (calls_[rank].fits(calls_[0])) continue;
        status = UCS_ERR_INVALID_PARAM;
        if (me == 0 || me == rank) log_difference(rank, calls_[rank], calls_[0]);
    }
    return status;
}

comparison::misfit comparison::find_misfit() const noexcept {
    for (rank_t from = 0; from < offered_.size(); ++from)
        if (offered_[from] != dealt_.taken[from])
            return {1, from, offered_[from], dealt_.taken[from]};
    return {};
}

ucs_status_t comparison::judge_counts(rank_t me) const noexcept {
    ucs_status_t status = UCS_OK;
    for (rank_t to = 0; to < misfits_.size(); ++to) {
        const misfit& each = misfits_[to];
        if (each.found == 0) continue;
        status = UCS_ERR_INVALID_PARAM;
        if (me == to || me == each.from)
            ucs::log::error(core_log, "{}: rank {} gives {} elements to rank {}, which expects {}",
                            ucg_coll_name(static_cast<ucg_coll_t>(mine_.what)), each.from,
                            each.given, to, each.expected);
    }
    return status;
}

}  // namespace ucg
