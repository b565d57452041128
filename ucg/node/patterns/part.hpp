// A part of a segment, for stages in which several ranks work on one segment.
#pragma once

#include <algorithm>

#include "ucg/algo/common/blocks.hpp"
#include "ucg/node/memory/layout.hpp"

namespace ucg::node {

// Parts begin at whole cache lines if elements do. Value type.
struct part {
    std::size_t begin, end;  // bytes within the segment

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }

    // Returns part `index` of `parts` nearly equal parts of a segment of `count` elements.
    [[nodiscard]] static part of(std::uint64_t count, std::size_t element, rank_t index,
                                 rank_t parts) noexcept {
        const std::size_t together = line % element == 0 ? line / element : 1;  // elements
        const algo::cut grains{(count + together - 1) / together, parts};
        return {std::min(grains.begin(index) * together, count) * element,
                std::min(grains.begin(index + 1) * together, count) * element};
    }
};

}  // namespace ucg::node
