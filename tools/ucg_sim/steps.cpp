#include "tools/ucg_sim/steps.hpp"

#include <fmt/format.h>

#include <vector>

namespace tools::ucg_sim {
namespace {

using ucg::sim::trail_kind;
using ucg::sim::trail_step;
using steps = std::span<const trail_step>;

constexpr std::size_t longest_pattern = 4;

// But for the ranks, and for bytes that differ by rounding.
bool alike(const trail_step& one, const trail_step& other) noexcept {
    return one.what == other.what && one.met == other.met && one.between == other.between &&
           one.bytes <= other.bytes + other.bytes / 8 + 4 &&
           other.bytes <= one.bytes + one.bytes / 8 + 4;
}

// How often the first `length` steps come one after the other.
std::size_t repeats(steps all, std::size_t length) noexcept {
    std::size_t same = length;
    while (same < all.size() && alike(all[same], all[same - length]))
        ++same;
    return same / length;
}

std::string words(const trail_step& of) {
    const double bytes = of.charged;
    switch (of.what) {
        case trail_kind::message:
            return fmt::format("message of {:.0f} bytes {}", bytes,
                               of.between ? "between nodes" : "inside a node");
        case trail_kind::reduce:
            return fmt::format("reduce {:.0f} bytes", bytes);
        case trail_kind::copy:
            return fmt::format("copy {:.0f} bytes", bytes);
        case trail_kind::meeting:
            return fmt::format("{} of a node, {:.0f} bytes", name(of.met), bytes);
    }
    return {};
}

std::string ranks(steps all) {
    constexpr std::size_t named = 8;
    std::string made = fmt::format("{}", all.front().from);
    std::vector<ucg::sim::rank_t> ways;
    for (const trail_step& each : all)
        if (each.from != each.rank) ways.push_back(each.rank);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (ways.size() > named && i + 1 < ways.size() && i >= named - 2) {
            if (i == named - 2) made += " -> ...";
            continue;
        }
        made += fmt::format(" -> {}", ways[i]);
    }
    return made;
}

std::string line(steps part, std::size_t length) {
    std::string what = words(part[0]);
    for (std::size_t i = 1; i < length; ++i)
        what += ", " + words(part[i]);
    const std::size_t times = part.size() / length;
    const double until = static_cast<double>(part.back().until) / (ucg::sim::per_second / 1e6);
    return fmt::format("    {:>12.2f}  {}{}; rank {}\n", until,
                       times > 1 ? fmt::format("{} x ", times) : "", what, ranks(part));
}

}  // namespace

// At each place the pattern that covers most.
std::string steps_text(steps all) {
    std::string made = all.empty() ? "" : "    until us\n";
    while (!all.empty()) {
        std::size_t best = 1;
        std::size_t covers = 1;
        for (std::size_t length = 1; length <= longest_pattern && length <= all.size(); ++length) {
            const std::size_t times = repeats(all, length);
            if (times < 2 && length > 1) continue;
            if (times * length <= covers) continue;
            best = length;
            covers = times * length;
        }
        made += line(all.first(covers), best);
        all = all.subspan(covers);
    }
    return made;
}

}  // namespace tools::ucg_sim
