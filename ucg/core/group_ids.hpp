// The numbers by which the messages of a context's groups are told apart.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/net/tag.hpp"

namespace ucg {

// A group has the same number on all its ranks, and none of them has it for another group. They
// agree so: everyone proposes the first free one behind the last that it agreed on, so that a
// number comes again as late as possible, because messages of its old group may still be under way.
// The highest of these is taken if it is free everywhere, else all propose again, above it; where
// that leads beyond the last one, all begin once more at 0. Owner context.
class group_ids {
public:
    static constexpr std::uint32_t none = net::most_groups;

    // Reserves the first free one where the search begins, or from `least` on; none: there is none.
    [[nodiscard]] std::uint32_t propose() { return propose(next_); }
    [[nodiscard]] std::uint32_t propose(std::uint32_t least) {
        std::uint32_t id = least;
        while (id < used_.size() && used_[id])
            ++id;
        return take(id) ? id : none;
    }
    // The one that all agreed on, instead of what was proposed, which may be none. False: it is not
    // free, and nothing is reserved.
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

    // Whether a group has it, or is to have it.
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
