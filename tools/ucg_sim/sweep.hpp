// Times of several algorithms over sizes of messages or of groups.
#pragma once

#include <string>
#include <vector>

#include "tools/ucg_sim/svg.hpp"

namespace tools::ucg_sim {

// Of one collective. Points are added in the order of x.
class sweep {
public:
    // `over_ranks`: x is the number of ranks; else bytes.
    explicit sweep(bool over_ranks) noexcept : over_ranks_(over_ranks) {}

    // `chosen`: this is the one that selection takes there.
    void add(double x, const std::string& algorithm, double seconds, bool chosen);

    // Markdown: a line for each x, a column for each algorithm, microseconds; the fastest in bold,
    // an asterisk at what selection takes.
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
    [[nodiscard]] std::vector<double> places() const;
    [[nodiscard]] std::string text_at(const column& of, double x, double best) const;

    bool over_ranks_;
    std::vector<column> columns_;
};

}  // namespace tools::ucg_sim
