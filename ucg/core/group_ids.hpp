// Numbers that distinguish the messages of a context's groups.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/net/tag.hpp"

namespace ucg {

// A group has the same number on all its ranks, and no rank uses it for another group. To agree on
// a number, every rank proposes the first free one behind the last that it agreed on. (So a number
// is reused as late as possible, because messages of its old group may still be under way.) The
// highest proposal is taken if it is free on all ranks. Otherwise all propose again, above it. If
// that leads beyond the last number, all begin again at 0, once. Owner context.
class group_ids {
public:
    static constexpr std::uint32_t none = net::max_groups;

    // Reserves the first free number from `least`, or from the start of the search; `none` if there
    // is none.
    [[nodiscard]] std::uint32_t propose() { return propose(next_); }
    [[nodiscard]] std::uint32_t propose(std::uint32_t least) {
        std::uint32_t id = least;
        while (id < used_.size() && used_[id])
            ++id;
        return take(id) ? id : none;
    }
    // Takes the number that all agreed on instead of the proposed one, which may be `none`. Returns
    // false if the number is not free; then nothing is reserved.
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

    // Returns whether a group has the number, or is to have it.
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
