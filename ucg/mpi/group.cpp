#include "ucg/mpi/group.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace ucg::mpi {
namespace {

constexpr std::size_t most_spares = 8;

struct spare_list {
    std::mutex lock;
    std::vector<std::unique_ptr<group>> groups;  // the one that was put back last is the last
};

// Never destroyed: a program may end without MPI_Finalize.
spare_list& list() noexcept {
    static auto* const all = new spare_list;
    return *all;
}

}  // namespace

std::unique_ptr<group> spare_groups::take(const std::vector<int>& members) noexcept {
    auto& [lock, groups] = list();
    const std::lock_guard guard(lock);
    const auto found = std::find_if(groups.rbegin(), groups.rend(),
                                    [&](const auto& each) { return each->members == members; });
    if (found == groups.rend()) return nullptr;
    std::unique_ptr<group> taken = std::move(*found);
    groups.erase(std::next(found).base());
    return taken;
}

// A group is destroyed outside the lock: it may have to move ucg on for that.
void spare_groups::put(std::unique_ptr<group> unused) noexcept try {
    std::unique_ptr<group> oldest;
    auto& [lock, groups] = list();
    const std::lock_guard guard(lock);
    groups.push_back(std::move(unused));
    if (groups.size() <= most_spares) return;
    oldest = std::move(groups.front());
    groups.erase(groups.begin());
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
