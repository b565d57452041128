#include "test/sim/ucg/world.hpp"

namespace group_sim {

namespace {

// Other ranks see a contribution after a delay.
class delayed_board final : public test::board {
public:
    delayed_board(const world& of_run, const group_plan& group)
        : test::board(group.size()), world_(of_run), group_(group) {
        be_strict();
    }

private:
    std::uint64_t next_arrival() override {
        return now() + world_.dice.below(world_.dice.chance(0.2) ? 1'000'000 : 5000);
    }
    [[nodiscard]] std::uint64_t now() const override { return world_.network.now(); }
    [[nodiscard]] bool is_dead(std::uint32_t rank) const override {
        return world_.is_dead(group_.members[rank]);
    }

    const world& world_;
    const group_plan& group_;
};

}  // namespace

test::board& world::board_of(std::size_t group) {
    std::unique_ptr<test::board>& made = boards_[group];
    if (made == nullptr) made = std::make_unique<delayed_board>(*this, run_plan.groups[group]);
    return *made;
}

// Also marks groups that are created from a disturbed group, until they exist.
template<class Hurts>
void world::disturb_groups(const Hurts& hurts) {
    for (std::size_t i = 0; i < run_plan.groups.size(); ++i) {
        const group_plan& each = run_plan.groups[i];
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

// Operations over the shared memory of a node fail together.
void world::disturb(std::size_t operation) {
    disturbed_operations_[operation] = true;
    const std::size_t group = run_plan.operations[operation].group;
    if (run_plan.shares_nodes(run_plan.groups[group]) || run_plan.groups[group].size() == 1)
        disturbed_groups_[group] = true;
}

bool world::may_fail_group(std::size_t group) const {
    const int parent = run_plan.groups[group].parent;
    return disturbed_groups_[group] ||
           (parent >= 0 && disturbed_groups_[static_cast<std::size_t>(parent)]);
}

void world::note(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
    for (const std::uint64_t each : {a, b, c})
        digest_ = ucs::sys::mix(digest_ ^ each);
}

}  // namespace group_sim
