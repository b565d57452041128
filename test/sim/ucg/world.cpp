#include "test/sim/ucg/world.hpp"

#include <algorithm>

#include "ucs/sys/uuid.hpp"

namespace group_sim {

board& world::board_of(std::size_t group) {
    std::unique_ptr<board>& made = boards_[group];
    if (made == nullptr) {
        const group_plan& of = what.groups[group];
        made = std::make_unique<board>(of.size(), network, dice, [this, &of](std::uint32_t place) {
            return dead_[of.members[place]];
        });
    }
    return *made;
}

// Also those that are made of one, as long as they are not made.
template<class Hurts>
void world::disturb_groups(const Hurts& hurts) {
    for (std::size_t i = 0; i < what.groups.size(); ++i) {
        const group_plan& each = what.groups[i];
        const bool is_making = made_[i] < each.size();
        const bool by_parent = each.parent >= 0 && is_making &&
                               disturbed_groups_[static_cast<std::size_t>(each.parent)];
        if (by_parent || hurts(each)) disturbed_groups_[i] = true;
    }
}

void world::kill(std::uint32_t rank) {
    dead_[rank] = true;
    isolate(rank);
}

void world::isolate(std::uint32_t rank) {
    broken_ = true;
    disturb_groups([rank](const group_plan& each) { return each.rank_of(rank) != UINT32_MAX; });
}

void world::part(std::uint32_t one, std::uint32_t other) {
    broken_ = parted_[one] = parted_[other] = true;
    disturb_groups([one, other](const group_plan& each) {
        return each.rank_of(one) != UINT32_MAX && each.rank_of(other) != UINT32_MAX;
    });
}

// What a group does over the memory of a node fails together.
void world::disturb(std::size_t operation) {
    disturbed_operations_[operation] = true;
    const std::size_t group = what.operations[operation].group;
    if (what.shares_nodes(what.groups[group]) || what.groups[group].size() == 1)
        disturbed_groups_[group] = true;
}

bool world::may_fail_group(std::size_t group) const {
    const int parent = what.groups[group].parent;
    return disturbed_groups_[group] ||
           (parent >= 0 && disturbed_groups_[static_cast<std::size_t>(parent)]);
}

void world::note(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
    for (const std::uint64_t each : {a, b, c})
        digest_ = ucs::sys::mix(digest_ ^ each);
}

}  // namespace group_sim
