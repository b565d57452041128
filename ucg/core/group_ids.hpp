// Group numbers, which tell apart the messages of the groups of one context.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/net/tag.hpp"

namespace ucg {

// The numbers that this rank uses. A group has the same number on all its ranks, and none of these
// ranks uses the number for another group. The ranks agree on a number as follows:
// 1. Each rank proposes its first free number after the last number that it agreed on. So a number
//    is reused as late as possible, because messages of its old group may still arrive.
// 2. If the highest proposal is free on all ranks, the group gets it.
// 3. Otherwise each rank proposes a free number above the highest proposal. If there is none left,
//    all ranks begin again at 0, but only once.
// Owner context.
class group_ids {
public:
    static constexpr std::uint32_t none = net::max_groups;

    // Reserves and returns the first free number that is not less than `least`. Without `least`,
    // searches from the number after the last one that was settled. Returns `none` if none is free.
    [[nodiscard]] std::uint32_t propose() { return propose(next_); }
    [[nodiscard]] std::uint32_t propose(std::uint32_t least) {
        std::uint32_t id = least;
        while (id < used_.size() && used_[id])
            ++id;
        return take(id) ? id : none;
    }
    // Replaces this rank's reserved proposal (`none` if it has none) by the number that was agreed
    // on. Returns false if that number is not free here; then nothing is reserved any more.
    [[nodiscard]] bool settle(std::uint32_t proposed, std::uint32_t agreed) {
        if (agreed != proposed) {
            release(proposed);
            if (!take(agreed)) return false;
        }
        next_ = (agreed + 1) % none;
        return true;
    }
    void release(std::uint32_t id) noexcept {
        if (id < used_.size()) used_[id] = false;
    }

    // Returns whether the number belongs to a group, or is reserved for one that is being made.
    [[nodiscard]] bool is_used(std::uint32_t id) const noexcept {
        return id < used_.size() && used_[id];
    }

private:
    bool take(std::uint32_t id) {
        if (id >= none || (id < used_.size() && used_[id])) return false;
        if (id >= used_.size()) used_.resize(id + 1);
        used_[id] = true;
        return true;
    }
    std::vector<bool> used_;
    std::uint32_t next_ = 0;
};

}  // namespace ucg
