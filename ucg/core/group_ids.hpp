// The numbers by which the messages of a context's groups are told apart.
#pragma once

#include <cstdint>
#include <vector>

#include "ucg/net/tag.hpp"

namespace ucg {

// A group has the same number on all its ranks, and none of them has it for another group. They
// agree so: everyone proposes its lowest free one; the highest of these is taken if it is free
// everywhere, else all propose again, above it. Owner context.
class group_ids {
public:
    static constexpr std::uint32_t none = net::most_groups;

    // Reserves the lowest free one from `least` on; none: there is none.
    [[nodiscard]] std::uint32_t propose(std::uint32_t least = 0) {
        std::uint32_t id = least;
        while (id < used_.size() && used_[id])
            ++id;
        return take(id) ? id : none;
    }
    // Instead of the one that was proposed; false: it is not free, and nothing is reserved.
    [[nodiscard]] bool settle(std::uint32_t proposed, std::uint32_t agreed) {
        if (agreed == proposed) return true;
        release(proposed);
        return take(agreed);
    }
    void release(std::uint32_t id) noexcept {
        if (id < used_.size()) used_[id] = false;
    }

private:
    bool take(std::uint32_t id) {
        if (id >= none || (id < used_.size() && used_[id])) return false;
        if (id >= used_.size()) used_.resize(id + 1);
        used_[id] = true;
        return true;
    }
    std::vector<bool> used_;
};

}  // namespace ucg
