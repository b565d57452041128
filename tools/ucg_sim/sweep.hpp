// Times of several algorithms over sizes of messages or of groups, their plot, and the texts of
// steps and of traffic.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ucg/sim/experiment.hpp"
#include "ucg/sim/trace.hpp"

namespace tools::ucg_sim {

// A plot of lines over two logarithmic axes, as SVG.
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

// The times of one collective. The caller adds points in the order of x.
class sweep {
public:
    // If `over_ranks`, x is the number of ranks, otherwise bytes.
    explicit sweep(bool over_ranks) noexcept : over_ranks_(over_ranks) {}

    // `chosen`: the library would select this algorithm at x.
    void add(double x, const std::string& algorithm, double seconds, bool chosen);

    // Returns a Markdown table in microseconds: a line for each x, a column for each algorithm. The
    // fastest is bold, and the selected algorithm has an asterisk.
    [[nodiscard]] std::string table() const;
    [[nodiscard]] plot figure(std::string title) const;

private:
    struct cell {
        double x, seconds;
        bool chosen;
    };
    struct column {
        std::string algorithm;
        std::vector<cell> cells;
    };
    [[nodiscard]] std::vector<double> x_values() const;
    [[nodiscard]] std::string text_at(const column& series, double x, double best) const;

    bool over_ranks_;
    std::vector<column> columns_;
};

// Returns one line for each node, or for consecutive nodes with equal traffic.
[[nodiscard]] std::string ports_text(std::span<const ucg::sim::traffic> nodes);

// Returns one line for each step, or for a sequence of steps that repeats.
[[nodiscard]] std::string steps_text(std::span<const ucg::sim::trace_step> steps);

}  // namespace tools::ucg_sim
