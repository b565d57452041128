// Whom an operation of this rank blames for not going on.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "ucg/schedule/step.hpp"

namespace ucg::net {

// The ranks that have not begun it, as far as this one can find out. It asks those that it waits
// for; who has begun it answers with whom it blames itself, and those are asked next. So blame
// leads from rank to rank to those that do not answer. Who waits for whom changes: all this is done
// again in each round. That a rank has begun stays true. Owner context; all may throw
// std::bad_alloc.
class blame {
public:
    using rank_t = schedule::rank_t;

    // `awaited`: those that this rank waits for itself now.
    void begin_round(std::span<const rank_t> awaited) {
        ++round_;
        // What was found in the last round counts until this one has found it again.
        std::erase_if(all_, [this](const auto& each) {
            return !each.second.begun && each.second.round + 1 < round_;
        });
        pending_.clear();
        for (const rank_t each : awaited)
            suspect(each);
    }

    // Calls `ask` with each rank that is to be asked; false: not yet, again at the next call.
    template<class Ask>
    void ask(const Ask& ask) {
        std::erase_if(pending_, ask);
    }

    // That rank has begun, and blames these. Of one that is not suspected it counts for nothing.
    void hear(rank_t who, std::span<const rank_t> blamed) {
        const auto found = all_.find(who);
        if (found == all_.end()) return;
        found->second.begun = true;
        for (const rank_t each : blamed)
            suspect(each);
    }

    // In the order of numbers.
    [[nodiscard]] std::vector<rank_t> ranks() const {
        unsigned newest = 0;
        for (const auto& [rank, known] : all_)
            if (!known.begun) newest = std::max(newest, known.round);
        std::vector<rank_t> found;
        for (const auto& [rank, known] : all_)
            if (!known.begun && known.round == newest) found.push_back(rank);
        return found;
    }

private:
    struct knowledge {
        unsigned round = 0;  // in which it was suspected last
        bool begun = false;
    };

    void suspect(rank_t which) {
        knowledge& known = all_[which];
        if (known.round == round_) return;
        known.round = round_;
        pending_.push_back(which);
    }

    std::map<rank_t, knowledge> all_;
    std::vector<rank_t> pending_;  // not asked in this round
    unsigned round_ = 0;
};

}  // namespace ucg::net
