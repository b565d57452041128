// Search for the ranks that keep an operation of this rank from advancing.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ucg/schedule/step.hpp"

namespace ucg::net {

// Finds the ranks that have not started the operation (stragglers), as far as this rank can. It
// queries only the ranks that it waits for. It needs a connection to those in any case; if every
// rank queried the ranks that others report, a straggler would get a connection from each.
//
// A rank that has started the operation replies with the ranks that it waits for itself. It sends a
// new report when that set changes; an asker without an endpoint gets it with the reply to its next
// query. So the names of stragglers pass from rank to rank to all that wait.
//
// Ranks may wait for each other, and would report a name to each other for ever. Therefore a rank
// that finds out that another one has started (which stays true) also reports that, to all ranks to
// which it has reported the name. A rank is queried in each round until it replies, so until then
// the search may name a rank that has started meanwhile. Owner context; all functions may throw
// std::bad_alloc.
class straggler_search {
public:
    using rank_t = schedule::rank_t;

    // The report of one rank to another. A message has room for `max_ranks` of each kind.
    static constexpr std::size_t max_ranks = 5;
    struct report {
        std::vector<rank_t> waiting_for;
        std::vector<rank_t> started;  // ranks of earlier reports that have started
    };

    // Begins a round of queries. `awaited`: the ranks that this rank waits for now, in ascending
    // order. Ranks that have not replied are queried again. (A rank that has replied may wait for
    // others by now.)
    void begin_round(std::span<const rank_t> awaited) {
        for (const rank_t each : awaited)
            reports_.try_emplace(each);
        pending_.assign(awaited.begin(), awaited.end());
        for (const auto& [rank, waiting_for] : reports_)
            if (!started_.contains(rank) && !std::ranges::binary_search(awaited, rank))
                pending_.push_back(rank);
    }
    [[nodiscard]] bool has_queried() const { return !reports_.empty(); }

    // The operation has ended, perhaps within query() or send_updates(), so the object is destroyed
    // later.
    void close() noexcept { closed_ = true; }
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }

    // Calls `send` with each rank that is to be queried. If `send` returns false, the next call
    // tries that rank again.
    template<class Send>
    void query(const Send& send) {
        std::erase_if(pending_, [&](rank_t each) { return closed_ || send(each); });
    }

    // Takes the report of a rank that has started. The report of a rank that was not queried is
    // ignored. Returns whether it contains anything new.
    bool receive(rank_t responder, const report& received) {
        const auto found = reports_.find(responder);
        if (found == reports_.end()) return false;
        const bool has_changed = found->second != received.waiting_for;
        const std::size_t started_before = started_.size();
        found->second = received.waiting_for;
        started_.insert(received.started.begin(), received.started.end());
        started_.insert(responder);
        return has_changed || started_.size() != started_before;
    }

    // Returns the stragglers of an operation that waits for `awaited` now, in ascending order.
    [[nodiscard]] std::vector<rank_t> stragglers(std::span<const rank_t> awaited) const {
        std::set<rank_t> found;
        for (const rank_t each : awaited) {
            found.insert(each);
            if (const auto known = reports_.find(each); known != reports_.end())
                found.insert(known->second.begin(), known->second.end());
        }
        std::vector<rank_t> left;
        std::ranges::set_difference(found, started_, std::back_inserter(left));
        return left;
    }

    // Returns the report for a rank that queries this one; at most `max_ranks` in `waiting_for`.
    report reply_to(rank_t asker, const std::vector<rank_t>& waiting_for) {
        asker_state& state = askers_[asker];
        const report reply{waiting_for, newly_started(state)};
        note_sent(state, reply);
        return reply;
    }
    [[nodiscard]] bool has_askers() const { return !askers_.empty(); }
    // Calls `send` with each asker whose last report is outdated, and with the new report. If
    // `send` returns false, the next call tries that asker again.
    template<class Send>
    void send_updates(const std::vector<rank_t>& waiting_for, const Send& send) {
        for (auto& [asker, state] : askers_) {
            if (closed_) return;
            const report update{waiting_for, newly_started(state)};
            if ((update.waiting_for != state.last || !update.started.empty()) &&
                send(asker, update))
                note_sent(state, update);
        }
    }

private:
    // The reports that this rank has sent to one asker.
    struct asker_state {
        std::vector<rank_t> last;
        std::set<rank_t> names;  // ever reported, without those reported as started
    };

    [[nodiscard]] std::vector<rank_t> newly_started(const asker_state& state) const {
        std::vector<rank_t> started;
        std::ranges::set_intersection(state.names, started_, std::back_inserter(started));
        started.resize(std::min(started.size(), max_ranks));
        return started;
    }
    static void note_sent(asker_state& state, const report& sent) {
        for (const rank_t each : sent.started)
            state.names.erase(each);
        state.names.insert(sent.waiting_for.begin(), sent.waiting_for.end());
        state.last = sent.waiting_for;
    }

    std::map<rank_t, std::vector<rank_t>> reports_;  // by queried rank: the ranks it waits for
    std::set<rank_t> started_;
    std::vector<rank_t> pending_;  // not queried yet in this round
    std::map<rank_t, asker_state> askers_;
    bool closed_ = false;
};

}  // namespace ucg::net
