#include "tools/ucg_sim/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tools::ucg_sim {
namespace {

constexpr double per_microsecond = 1e6;

std::string size_text(double bytes) {
    constexpr double kilo = 1024;
    if (bytes >= kilo * kilo) return fmt::format("{:g} M", bytes / (kilo * kilo));
    if (bytes >= kilo) return fmt::format("{:g} K", bytes / kilo);
    return fmt::format("{:g}", bytes);
}

}  // namespace

void sweep::add(double x, const std::string& algorithm, double seconds, bool chosen) {
    auto found = std::ranges::find(columns_, algorithm, &column::algorithm);
    if (found == columns_.end()) found = columns_.insert(found, {algorithm, {}});
    found->cells.push_back({x, seconds, chosen});
}

std::vector<double> sweep::x_values() const {
    std::vector<double> made;
    for (const column& each : columns_)
        for (const cell& point : each.cells)
            made.push_back(point.x);
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
    return made;
}

std::string sweep::text_at(const column& series, double x, double best) const {
    const auto found = std::ranges::find(series.cells, x, &cell::x);
    if (found == series.cells.end()) return "";
    const double time = found->seconds * per_microsecond;
    std::string made = time < 100 ? fmt::format("{:.1f}", time) : fmt::format("{:.0f}", time);
    if (found->seconds <= best) made = fmt::format("**{}**", made);
    return made + (found->chosen ? " *" : "");
}

std::string sweep::table() const {
    std::string made = over_ranks_ ? "| ranks |" : "| bytes |";
    std::string under = "| --- |";
    for (const column& each : columns_) {
        made += fmt::format(" {} |", each.algorithm);
        under += " --- |";
    }
    made += fmt::format("\n{}\n", under);
    for (const double x : x_values()) {
        double best = std::numeric_limits<double>::max();
        for (const column& each : columns_)
            for (const cell& point : each.cells)
                if (point.x == x) best = std::min(best, point.seconds);
        made += fmt::format("| {} |", over_ranks_ ? fmt::format("{:g}", x) : size_text(x));
        for (const column& each : columns_)
            made += fmt::format(" {} |", text_at(each, x, best));
        made += "\n";
    }
    return made;
}

plot sweep::figure(std::string title) const {
    plot made{std::move(title), over_ranks_ ? "ranks" : "bytes", "microseconds", {}};
    for (const column& each : columns_) {
        plot_line line{each.algorithm, {}};
        for (const cell& point : each.cells)
            if (point.x > 0 && point.seconds > 0)
                line.points.push_back({point.x, point.seconds * per_microsecond});
        if (!line.points.empty()) made.lines.push_back(std::move(line));
    }
    return made;
}

}  // namespace tools::ucg_sim
