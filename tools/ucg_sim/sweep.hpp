// Times of several algorithms over sizes of messages or of groups.
#pragma once

#include "tools/ucg_sim/svg.hpp"

namespace tools::ucg_sim {

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

}  // namespace tools::ucg_sim
