#include "tools/ucg_sim/steps.hpp"

#include <fmt/format.h>

#include <vector>

namespace tools::ucg_sim {
namespace {

using ucg::sim::trace_kind;
using ucg::sim::trace_step;
using steps = std::span<const trace_step>;

constexpr std::size_t longest_pattern = 4;

// Returns whether two steps are equal, apart from the ranks and from rounding of the bytes.
bool alike(const trace_step& one, const trace_step& other) noexcept {
    return one.kind == other.kind && one.collective == other.collective &&
           one.between == other.between && one.bytes <= other.bytes + other.bytes / 8 + 4 &&
           other.bytes <= one.bytes + one.bytes / 8 + 4;
}

// Returns how often the sequence of the first `length` steps repeats.
std::size_t repeats(steps all, std::size_t length) noexcept {
    std::size_t same = length;
    while (same < all.size() && alike(all[same], all[same - length]))
        ++same;
    return same / length;
}

std::string step_text(const trace_step& step) {
    const double bytes = step.charged;
    switch (step.kind) {
        case trace_kind::message:
            return fmt::format("message of {:.0f} bytes {}", bytes,
                               step.between ? "between nodes" : "inside a node");
        case trace_kind::reduce:
            return fmt::format("reduce {:.0f} bytes", bytes);
        case trace_kind::copy:
            return fmt::format("copy {:.0f} bytes", bytes);
        case trace_kind::node_collective:
            return fmt::format("{} of a node, {:.0f} bytes", name(step.collective), bytes);
    }
    return {};
}

std::string ranks(steps all) {
    constexpr std::size_t named = 8;
    std::string made = fmt::format("{}", all.front().from);
    std::vector<ucg::sim::rank_t> receivers;
    for (const trace_step& each : all)
        if (each.from != each.rank) receivers.push_back(each.rank);
    for (std::size_t i = 0; i < receivers.size(); ++i) {
        if (receivers.size() > named && i + 1 < receivers.size() && i >= named - 2) {
            if (i == named - 2) made += " -> ...";
            continue;
        }
        made += fmt::format(" -> {}", receivers[i]);
    }
    return made;
}

std::string line(steps part, std::size_t length) {
    std::string text = step_text(part[0]);
    for (std::size_t i = 1; i < length; ++i)
        text += ", " + step_text(part[i]);
    const std::size_t times = part.size() / length;
    const double until = static_cast<double>(part.back().until) / (ucg::sim::per_second / 1e6);
    return fmt::format("    {:>12.2f}  {}{}; rank {}\n", until,
                       times > 1 ? fmt::format("{} x ", times) : "", text, ranks(part));
}

}  // namespace

// Merges repeated steps: takes the pattern that covers most steps, then continues behind it.
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
