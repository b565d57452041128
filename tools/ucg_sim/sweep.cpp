#include "tools/ucg_sim/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tools::ucg_sim {
namespace {

constexpr double width = 760, height = 460;
constexpr double left = 70, right = 190, top = 40, bottom = 60;
constexpr const char* colours[] = {"#1b6ca8", "#d1495b", "#3a7d44", "#8e5ea2", "#c77d0a",
                                   "#0f8b8d", "#7a4a2b", "#d36bb0", "#606c38", "#4a4e69"};

// A logarithmic axis to `base`: maps a value to a coordinate.
class axis {
public:
    axis(double base, double from, double to) noexcept : base_(base), from_(from), to_(to) {}

    void cover(double value) noexcept {
        const double power = std::log(value) / std::log(base_);
        low_ = any_ ? std::min(low_, power) : power;
        high_ = any_ ? std::max(high_, power) : power;
        any_ = true;
    }
    // Extends the axis to whole powers at both ends.
    void widen() noexcept {
        constexpr double rounding = 1e-9;
        low_ = std::floor(low_ + rounding);
        high_ = std::max(std::ceil(high_ - rounding), low_ + 1);
    }
    [[nodiscard]] double low() const noexcept { return low_; }
    [[nodiscard]] double high() const noexcept { return high_; }
    [[nodiscard]] double at_power(double power) const noexcept {
        return from_ + (to_ - from_) * (power - low_) / (high_ - low_);
    }
    [[nodiscard]] double at(double value) const noexcept {
        return at_power(std::log(value) / std::log(base_));
    }

private:
    double base_, from_, to_;
    double low_ = 0, high_ = 1;
    bool any_ = false;
};

std::string binary_label(double power) {
    const double value = std::exp2(power);
    constexpr const char* units[] = {"", "K", "M", "G", "T"};
    const auto unit = std::min<std::size_t>(static_cast<std::size_t>(std::max(power, 0.0)) / 10, 4);
    return fmt::format("{:g}{}", value / std::exp2(10.0 * static_cast<double>(unit)), units[unit]);
}

std::string escaped(const std::string& text) {
    std::string made;
    for (const char each : text) {
        if (each == '<')
            made += "&lt;";
        else if (each == '&')
            made += "&amp;";
        else
            made += each;
    }
    return made;
}

std::string label(double x, double y, const char* anchor, const std::string& text,
                  const char* more = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       anchor, more, escaped(text));
}

std::string rule(double x1, double y1, double x2, double y2) {
    return fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x1, y1,
        x2, y2);
}

std::string axes(const axis& x, const axis& y, const plot& figure) {
    std::string made;
    constexpr double most_labels = 12;
    const double step = std::ceil((x.high() - x.low()) / most_labels);
    for (double power = x.low(); power <= x.high(); power += step) {
        made += rule(x.at_power(power), top, x.at_power(power), height - bottom);
        made += label(x.at_power(power), height - bottom + 18, "middle", binary_label(power));
    }
    for (double power = y.low(); power <= y.high(); ++power) {
        made += rule(left, y.at_power(power), width - right, y.at_power(power));
        made +=
            label(left - 8, y.at_power(power) + 4, "end", fmt::format("{:g}", std::pow(10, power)));
    }
    made += label((left + width - right) / 2, height - 16, "middle", figure.x_name);
    const double middle = (top + height - bottom) / 2;
    made += label(18, middle, "middle", figure.y_name,
                  fmt::format(" transform=\"rotate(-90 18 {:.1f})\"", middle).c_str());
    made += label(left, 22, "start", figure.title, " class=\"title\"");
    return made;
}

std::string line(const axis& x, const axis& y, const plot_line& curve, std::size_t number) {
    const char* const colour = colours[number % std::size(colours)];
    std::string path;
    std::string dots;
    for (const plot_line::point& each : curve.points) {
        path +=
            fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x.at(each.x), y.at(each.y));
        dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                            x.at(each.x), y.at(each.y), colour);
    }
    const double legend_y = top + 12 + 20 * static_cast<double>(number);
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n{}", path,
                       colour, dots) +
           fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n",
                       width - right + 16, legend_y - 6, colour) +
           label(width - right + 36, legend_y, "start", curve.name);
}

}  // namespace

std::string svg_text(const plot& figure) {
    axis x(2, left, width - right);
    axis y(10, height - bottom, top);
    for (const plot_line& each : figure.lines) {
        for (const plot_line::point& point : each.points) {
            x.cover(point.x);
            y.cover(point.y);
        }
    }
    x.widen();
    y.widen();
    std::string made = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\">\n<style>text{{font:12px sans-serif;fill:#222}}.title{{font-size:15px}}"
        ".grid{{stroke:#ccc;stroke-width:1}}</style>\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
        width, height);
    made += axes(x, y, figure);
    for (std::size_t i = 0; i < figure.lines.size(); ++i)
        made += line(x, y, figure.lines[i], i);
    return made + "</svg>\n";
}

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

namespace {

bool alike(const ucg::sim::traffic& a, const ucg::sim::traffic& b) noexcept {
    return a.out == b.out && a.in == b.in;
}

}  // namespace

std::string ports_text(std::span<const ucg::sim::traffic> nodes) {
    std::string made =
        nodes.empty() ? "" : "    port of node           bytes out        bytes in\n";
    for (std::size_t first = 0; first < nodes.size();) {
        std::size_t end = first + 1;
        while (end < nodes.size() && alike(nodes[first], nodes[end]))
            ++end;
        const std::string which =
            end - first > 1 ? fmt::format("{}-{}", first, end - 1) : fmt::format("{}", first);
        made += fmt::format("    {:<15} {:>16.0f} {:>15.0f}\n", which, nodes[first].out,
                            nodes[first].in);
        first = end;
    }
    return made;
}

namespace {

using namespace ucg::sim;
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
