#include "ucg/mpi/group.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

namespace ucg::mpi {
namespace {

constexpr std::size_t most_spares = group::most_siblings + 8;

struct spare_list {
    std::mutex lock;
    std::vector<std::unique_ptr<group>> groups;  // the one that was put here last is the last
};

// Never destroyed: a program may end without MPI_Finalize.
spare_list& list() noexcept {
    static auto* const all = new spare_list;
    return *all;
}

struct group_counts {
    std::mutex lock;
    std::map<std::vector<int>, unsigned> of_members;
};

group_counts& counts() noexcept {
    static auto* const all = new group_counts;
    return *all;
}

}  // namespace

void group::set_members(std::vector<int> ranks) {
    auto& [lock, of_members] = counts();
    const std::lock_guard guard(lock);
    ++of_members[ranks];
    members_ = std::move(ranks);
}

unsigned group::count_of(const std::vector<int>& members) noexcept {
    auto& [lock, of_members] = counts();
    const std::lock_guard guard(lock);
    const auto found = of_members.find(members);
    return found == of_members.end() ? 0 : found->second;
}

group::~group() {
    kept.clear();
    ucg_group_destroy(handle);
    if (members_.empty()) return;
    auto& [lock, of_members] = counts();
    const std::lock_guard guard(lock);
    const auto found = of_members.find(members_);
    if (--found->second == 0) of_members.erase(found);
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

// A group is destroyed outside the lock: it may have to move ucg on for that.
void spare_groups::put(std::unique_ptr<group> unused) noexcept try {
    std::unique_ptr<group> oldest;
    const std::lock_guard guard(list().lock);
    auto& groups = list().groups;
    groups.push_back(std::move(unused));
    if (groups.size() <= most_spares) return;
    const auto spares_of_same = [&](const auto& one) {
        return std::ranges::count_if(
            groups, [&](const auto& each) { return each->members() == one->members(); });
    };
    const auto goes = std::ranges::max_element(groups, {}, spares_of_same);
    oldest = std::move(*goes);
    groups.erase(goes);
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
