// Edit distance of two names, for suggesting an option when the user mistyped its name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ucs::config {

// Returns the least number of edits that turn one name into the other. An edit inserts, removes or
// changes one character, or swaps two adjacent ones.
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

// Finds the candidate that differs least from a mistyped name. Value type; `name` outlives it.
class nearest_match {
public:
    explicit nearest_match(std::string_view name) noexcept
        : name_(name), best_(name.size() / 3 + 1) {}

    // Considers a candidate, which must outlive this object.
    void consider(std::string_view candidate) {
        const std::size_t distance = edit_distance(name_, candidate);
        if (distance >= best_) return;
        best_ = distance;
        found_ = candidate;
    }
    // Returns the best candidate. Returns an empty name if every candidate needs more edits than a
    // third of the letters, because such a candidate is another word and not a typing error.
    [[nodiscard]] std::string_view found() const noexcept { return found_; }

private:
    const std::string_view name_;
    std::size_t best_;
    std::string_view found_;
};

}  // namespace ucs::config
