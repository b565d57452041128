#include "tools/ucg_sim/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

}  // namespace tools::ucg_sim
