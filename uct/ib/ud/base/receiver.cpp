#include "uct/ib/ud/base/receiver.hpp"

#include <new>
#include <tuple>

#include "ucs/type/allocated.hpp"

namespace uct::ud {
namespace {

// Bounds the work for one datagram: each new connection examines so many receivers, and the next
// one continues after them.
constexpr std::size_t most_candidates = 64;

}  // namespace

receiver_table::receiver_table(const limits& with) noexcept
    : limits_(with),
      secret_(ucs::sys::random_hash_key()),
      by_source_(0, hash{secret_}),
      shares_(0, datagram_source_hash(secret_)) {}

receiver* receiver_table::find(const wire::address& from, std::uint64_t connection) noexcept {
    const auto found = by_source_.find({from, connection});
    return found == by_source_.end() ? nullptr : found->second;
}

// Prefers forgettable receivers, then those of the source with the most receivers, then those that
// have been silent for longest.
template<class List>
receiver* receiver_table::best_to_displace(List& candidates) noexcept {
    receiver* best = nullptr;
    std::tuple<bool, std::size_t, bool, double> best_rank;
    receiver* const last = candidates.empty() ? nullptr : &candidates.back();
    for (std::size_t i = 0; i < most_candidates && last != nullptr; ++i) {
        receiver& each = candidates.front();
        candidates.splice(candidates.end(), candidates, candidates.begin());
        const std::tuple rank(each.is_forgettable(), each.share_->count, !each.heard, each.silent_);
        if (best == nullptr || rank > best_rank) {
            best = &each;
            best_rank = rank;
        }
        if (&each == last) break;
    }
    return best;
}

receiver_table::admission receiver_table::admit(const datagram_source& source) noexcept {
    const auto share = shares_.find(source);
    const std::size_t count = share == shares_.end() ? 0 : share->second.count;
    if (count >= limits_.per_source) {
        receiver* const best = best_to_displace(share->second.receivers);
        const bool found = best != nullptr && best->is_forgettable();
        return {found, found ? best : nullptr};
    }
    if (size() < limits_.all) return {true, nullptr};
    receiver* const best = best_to_displace(all_);
    const bool found =
        best != nullptr && (best->is_forgettable() || best->share_->count > count + 1);
    return {found, found ? best : nullptr};
}

receiver& receiver_table::add(std::shared_ptr<peer> from, const wire::hello& hello, psn expected,
                              const datagram_source& source) {
    auto made = std::make_unique<receiver>(std::move(from), hello, expected);
    receiver& fresh = *made;
    const key where{hello.from, hello.connection};
    by_source_.emplace(where, &fresh);
    source_share* its = nullptr;
    std::uint64_t id = 0;
    if (ucs::allocated([&] { its = &shares_[source]; })) id = by_id_.add(std::move(made));
    if (id == 0) {
        if (its != nullptr && its->count == 0) shares_.erase(source);
        by_source_.erase(where);
        throw std::bad_alloc();
    }
    its->source = source;
    fresh.id_ = id;
    fresh.share_ = its;
    its->receivers.push_back(fresh);
    ++its->count;
    all_.push_back(fresh);
    return fresh;
}

void receiver_table::remove(receiver& gone) noexcept {
    if (gone.from().pending_ack == &gone) gone.from().pending_ack = nullptr;
    by_source_.erase({gone.from().where, gone.source()});
    gone.share_hook.unlink();
    if (--gone.share_->count == 0) shares_.erase(datagram_source(gone.share_->source));
    by_id_.remove(gone.id());
}

}  // namespace uct::ud
