// How much two names differ: tells a mistyped name from another word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ucs::config {

// Least number of inserted, removed, changed or swapped neighbouring characters between the two.
[[nodiscard]] inline std::size_t edit_distance(std::string_view left, std::string_view right) {
    const std::size_t width = right.size() + 1;
    std::vector<std::size_t> before(width), above(width), row(width);
    for (std::size_t j = 0; j < width; ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::swap(before, above);
        std::swap(above, row);
        row[0] = i;
        for (std::size_t j = 1; j < width; ++j) {
            const bool differ = left[i - 1] != right[j - 1];
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (differ ? 1U : 0U)});
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[right.size()];
}

}  // namespace ucs::config
