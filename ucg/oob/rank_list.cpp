#include "ucg/oob/rank_list.hpp"

#include <fmt/format.h>

#include <vector>

namespace ucg::oob {
namespace {

constexpr std::size_t most_ranges = 20;

// The end of the range that begins at `from`.
std::size_t range_end(std::span<const rank_t> ranks, std::size_t from) {
    std::size_t end = from + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
        ++end;
    return end;
}

}  // namespace

std::string rank_list(std::span<const rank_t> ranks, std::uint64_t unlisted) {
    std::vector<std::string> parts;
    std::size_t at = 0;
    while (at < ranks.size() && parts.size() < most_ranges) {
        const std::size_t end = range_end(ranks, at);
        parts.push_back(end - at == 1 ? fmt::format("{}", ranks[at])
                                      : fmt::format("{}-{}", ranks[at], ranks[end - 1]));
        at = end;
    }
    unlisted += ranks.size() - at;
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
