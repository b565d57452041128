// Whom an operation of this rank blames for not going on.
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

// The ranks that have not begun it, as far as this one can find out. It asks those that it waits
// for, and nobody else: them it needs a connection to in any case, but if all asked whomever others
// blame, a rank that is late would get one from each. Who has begun it answers with whom it blames
// itself, and says so again when that changes, or, to askers that get no endpoint, when they ask
// again. So names pass from rank to rank to all that wait. Ranks may wait for each other, and would
// tell each other a name for ever: so whoever finds out that a rank has begun, which stays true,
// says that, too, to all whom it has told that name. A rank is asked in each round until it
// answers: so long one that has come since may be named. Owner context; all may throw
// std::bad_alloc.
class blame {
public:
    using rank_t = schedule::rank_t;

    // What one rank tells another: of each kind no more than a message has room for.
    static constexpr std::size_t most = 5;
    struct word {
        std::vector<rank_t> blamed;
        std::vector<rank_t> begun;  // of those that it has blamed before
    };

    // `awaited`: those that this rank waits for now, in the order of numbers. Who has answered may
    // wait for others by now.
    void begin_round(std::span<const rank_t> awaited) {
        for (const rank_t each : awaited)
            said_.try_emplace(each);
        pending_.assign(awaited.begin(), awaited.end());
        for (const auto& [rank, said] : said_)
            if (!begun_.contains(rank) && !std::ranges::binary_search(awaited, rank))
                pending_.push_back(rank);
    }
    [[nodiscard]] bool has_asked() const { return !said_.empty(); }

    // The operation is over, perhaps within ask() or tell(), so that the book is destroyed later.
    void close() noexcept { closed_ = true; }
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }

    // Calls `ask` with each rank that is to be asked; false: not yet, again at the next call.
    template<class Ask>
    void ask(const Ask& ask) {
        std::erase_if(pending_, [&](rank_t each) { return closed_ || ask(each); });
    }

    // That rank has begun, and says this. Of one that was not asked it counts for nothing. Returns
    // whether this rank did not know it.
    bool hear(rank_t who, const word& said) {
        const auto found = said_.find(who);
        if (found == said_.end()) return false;
        const bool is_other = found->second != said.blamed;
        const std::size_t begun_before = begun_.size();
        found->second = said.blamed;
        begun_.insert(said.begun.begin(), said.begun.end());
        begun_.insert(who);
        return is_other || begun_.size() != begun_before;
    }

    // Of an operation that waits for these now; in the order of numbers.
    [[nodiscard]] std::vector<rank_t> ranks(std::span<const rank_t> awaited) const {
        std::set<rank_t> found;
        for (const rank_t each : awaited) {
            found.insert(each);
            if (const auto said = said_.find(each); said != said_.end())
                found.insert(said->second.begin(), said->second.end());
        }
        std::vector<rank_t> left;
        std::ranges::set_difference(found, begun_, std::back_inserter(left));
        return left;
    }

    // What a rank that asks is told of these, `most` at most.
    word answer(rank_t asker, const std::vector<rank_t>& blamed) {
        told& of = told_[asker];
        const word said{blamed, come_of(of)};
        note(of, said);
        return said;
    }
    [[nodiscard]] bool is_asked() const { return !told_.empty(); }
    // Calls `tell` with each rank that asked and was told something else, and with the word for it;
    // false: not now.
    template<class Tell>
    void tell(const std::vector<rank_t>& blamed, const Tell& tell) {
        for (auto& [asker, of] : told_) {
            if (closed_) return;
            const word said{blamed, come_of(of)};
            if ((said.blamed != of.last || !said.begun.empty()) && tell(asker, said))
                note(of, said);
        }
    }

private:
    // What this one blamed to a rank that asks it.
    struct told {
        std::vector<rank_t> last;
        std::set<rank_t> names;  // ever, but those of which it was told that they have begun
    };

    [[nodiscard]] std::vector<rank_t> come_of(const told& of) const {
        std::vector<rank_t> begun;
        std::ranges::set_intersection(of.names, begun_, std::back_inserter(begun));
        begun.resize(std::min(begun.size(), most));
        return begun;
    }
    static void note(told& of, const word& said) {
        for (const rank_t each : said.begun)
            of.names.erase(each);
        of.names.insert(said.blamed.begin(), said.blamed.end());
        of.last = said.blamed;
    }

    std::map<rank_t, std::vector<rank_t>> said_;  // whom those blame that were asked
    std::set<rank_t> begun_;
    std::vector<rank_t> pending_;  // not asked in this round
    std::map<rank_t, told> told_;
    bool closed_ = false;
};

}  // namespace ucg::net
