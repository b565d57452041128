// A plot of lines over two logarithmic axes, as SVG.
#pragma once

#include <string>
#include <vector>

namespace tools::ucg_sim {

struct plot_line {
    std::string name;
    struct point {
        double x, y;
    };
    std::vector<point> points;  // both above 0
};

struct plot {
    std::string title;
    std::string x_name;
    std::string y_name;
    std::vector<plot_line> lines;
};

// Readable on light and dark pages. Without points above 0 the plot has only axes.
[[nodiscard]] std::string svg_text(const plot& figure);

}  // namespace tools::ucg_sim
