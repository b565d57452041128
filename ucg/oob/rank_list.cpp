#include "ucg/oob/rank_list.hpp"

#include <fmt/format.h>

#include <vector>

namespace ucg::oob {
namespace {

constexpr std::size_t max_ranges = 20;

// Returns the end of the range that begins at `from`.
std::size_t range_end(std::span<const rank_t> ranks, std::size_t from) {
    std::size_t end = from + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
        ++end;
    return end;
}

}  // namespace

std::string rank_list(std::span<const rank_t> ranks, std::uint64_t unlisted) {
    std::vector<std::string> parts;
    std::size_t next = 0;
    while (next < ranks.size() && parts.size() < max_ranges) {
        const std::size_t end = range_end(ranks, next);
        parts.push_back(end - next == 1 ? fmt::format("{}", ranks[next])
                                        : fmt::format("{}-{}", ranks[next], ranks[end - 1]));
        next = end;
    }
    unlisted += ranks.size() - next;
    if (unlisted != 0) parts.push_back(fmt::format("{} more", unlisted));
    const bool one = ranks.size() + unlisted == 1;
    std::string text = one ? "rank " : "ranks ";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) text += i + 1 == parts.size() ? " and " : ", ";
        text += parts[i];
    }
    return text;
}

}  // namespace ucg::oob
