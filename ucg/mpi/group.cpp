#include "ucg/mpi/group.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

namespace ucg::mpi {
namespace {

constexpr std::size_t max_spares = group::max_siblings + 8;

struct spare_list {
    std::mutex lock;
    std::vector<std::unique_ptr<group>> groups;  // ordered from the oldest to the newest
};

// Never destroyed: a program may end without MPI_Finalize.
spare_list& list() noexcept {
    static auto* const all = new spare_list;
    return *all;
}

struct group_counts {
    std::mutex lock;
    std::map<std::vector<int>, unsigned> by_members;
};

group_counts& counts() noexcept {
    static auto* const all = new group_counts;
    return *all;
}

}  // namespace

void group::set_members(std::vector<int> ranks) {
    auto& [lock, by_members] = counts();
    const std::lock_guard guard(lock);
    ++by_members[ranks];
    members_ = std::move(ranks);
}

unsigned group::count_of(const std::vector<int>& members) noexcept {
    auto& [lock, by_members] = counts();
    const std::lock_guard guard(lock);
    const auto found = by_members.find(members);
    return found == by_members.end() ? 0 : found->second;
}

group::~group() {
    kept.clear();
    ucg_group_destroy(handle);
    if (members_.empty()) return;
    auto& [lock, by_members] = counts();
    const std::lock_guard guard(lock);
    const auto found = by_members.find(members_);
    if (--found->second == 0) by_members.erase(found);
}

std::unique_ptr<group> spare_groups::take(const std::vector<int>& members) noexcept {
    auto& [lock, groups] = list();
    const std::lock_guard guard(lock);
    const auto found = std::find_if(groups.rbegin(), groups.rend(),
                                    [&](const auto& each) { return each->members() == members; });
    if (found == groups.rend()) return nullptr;
    std::unique_ptr<group> taken = std::move(*found);
    groups.erase(std::next(found).base());
    return taken;
}

// Destroys a group outside the lock, because that may have to progress ucg.
void spare_groups::put(std::unique_ptr<group> unused) noexcept try {
    std::unique_ptr<group> oldest;
    const std::lock_guard guard(list().lock);
    auto& groups = list().groups;
    groups.push_back(std::move(unused));
    if (groups.size() <= max_spares) return;
    const auto spares_of_same = [&](const auto& candidate) {
        return std::ranges::count_if(
            groups, [&](const auto& each) { return each->members() == candidate->members(); });
    };
    const auto removed = std::ranges::max_element(groups, {}, spares_of_same);
    oldest = std::move(*removed);
    groups.erase(removed);
} catch (const std::bad_alloc&) {
}

void spare_groups::clear() noexcept {
    std::vector<std::unique_ptr<group>> all;
    {
        const std::lock_guard guard(list().lock);
        all.swap(list().groups);
    }
}

spare_groups& spares() noexcept {
    static spare_groups one;
    return one;
}

}  // namespace ucg::mpi
