#include "ucg/core/comparison.hpp"

#include <ucg/api/ucg.h>

#include <algorithm>
#include <new>
#include <utility>

#include "ucg/algo/common/ring.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg {

using schedule::member;
using schedule::rank_t;
using schedule::task;

namespace {

// Views the vector as one block of one element for each rank, for an allgather.
template<class Element>
algo::blocks<std::byte> blocks_of(std::vector<Element>& all) noexcept {
    return {algo::bytes_of(all.data()), sizeof(Element), 1};
}

void log_difference(rank_t rank, const signature& other, const signature& first) noexcept try {
    const bool other_form =
        other.operation >= signature::program && other.operation == first.operation;
    ucs::log::error(core_log, "rank {} calls {}, rank 0 calls {}{}", rank, text_of(other),
                    text_of(first), other_form ? " with other tensors, types or numbers" : "");
} catch (const std::bad_alloc&) {
    ucs::log::error(core_log, "rank {} does not call what rank 0 calls", rank);
}

}  // namespace

void comparison::init(rank_t size, const signature& own, shares own_shares) {
    calls_.resize(size);
    own_ = own;
    own_shares_ = std::move(own_shares);
    received_counts_.resize(own_shares_.given.size());
    mismatches_.resize(own_shares_.given.size());
}

task comparison::run(member& me) noexcept {
    calls_[me.rank()] = own_;
    const auto calls_of_all = blocks_of(calls_);
    task calls = algo::ring_allgather(me, calls_of_all);
    co_await calls;
    verdict_ = check_calls(me.rank());
    // All ranks have the same calls_, so either all of them return at this point or none.
    if (verdict_ != UCS_OK || own_shares_.given.empty()) co_return;
    task counts = exchange_counts(me);
    co_await counts;
    mismatches_[me.rank()] = find_mismatch();
    const auto mismatches_of_all = blocks_of(mismatches_);
    task mismatches = algo::ring_allgather(me, mismatches_of_all);
    co_await mismatches;
    verdict_ = check_counts(me.rank());
}

task comparison::exchange_counts(member& me) {
    const rank_t size = me.size();
    received_counts_[me.rank()] = own_shares_.given[me.rank()];
    for (rank_t distance = 1; distance < size; ++distance) {
        const rank_t to = (me.rank() + distance) % size;
        const rank_t from = (me.rank() + size - distance) % size;
        co_await me.exchange(to, &own_shares_.given[to], sizeof(std::uint64_t), from,
                             &received_counts_[from], sizeof(std::uint64_t));
    }
}

// If a rank has refused its own arguments, only the other ranks log that here, because that rank
// has already logged the reason.
ucs_status_t comparison::check_calls(rank_t me) const noexcept {
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

comparison::mismatch comparison::find_mismatch() const noexcept {
    for (rank_t from = 0; from < received_counts_.size(); ++from)
        if (received_counts_[from] != own_shares_.taken[from])
            return {1, from, received_counts_[from], own_shares_.taken[from]};
    return {};
}

ucs_status_t comparison::check_counts(rank_t me) const noexcept {
    ucs_status_t status = UCS_OK;
    for (rank_t to = 0; to < mismatches_.size(); ++to) {
        const mismatch& each = mismatches_[to];
        if (each.found == 0) continue;
        status = UCS_ERR_INVALID_PARAM;
        if (me == to || me == each.from)
            ucs::log::error(core_log, "{}: rank {} gives {} elements to rank {}, which expects {}",
                            ucg_coll_name(static_cast<ucg_coll_t>(own_.operation)), each.from,
                            each.given, to, each.expected);
    }
    return status;
}

}  // namespace ucg
