// One row: a collective of one size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/ucg_perf/buffers.hpp"
#include "tools/ucg_perf/content.hpp"
#include "tools/ucg_perf/job.hpp"
#include "tools/ucg_perf/options.hpp"

namespace tools::ucg_perf {

// What is asked for, the same on every rank.
struct subject {
    ucg_coll_t what = UCG_COLL_ALLREDUCE;
    std::uint64_t bytes = 0;
    const char* algorithm = nullptr;  // none: the library chooses
};

struct measurement {
    std::vector<double> times;  // seconds of each iteration on its slowest rank
    std::string algorithm;
    std::string reason;
    bool right = true;  // on every rank; of use where it was asked to compare
};

// Measures. A rank makes it and runs it once, at the same time as all others.
class trial {
public:
    trial(const job& with, const options& by, const subject& what);
    trial(const trial&) = delete;
    trial& operator=(const trial&) = delete;

    // Throws failure. What is wrong on this rank is told on the error output.
    [[nodiscard]] measurement run();

private:
    // One iteration of all that is under way at a time; seconds of an operation.
    double iterate();
    void write();
    void compare();
    void call();
    [[nodiscard]] const buffers& of_turn(std::uint64_t turn) const {
        return memory_[turn % memory_.size()];
    }
    [[nodiscard]] std::uint64_t iterations();
    void warm_up(std::uint64_t count);

    const job& with_;
    const options& by_;
    wanted_layout wanted_;
    layout layout_;
    numbers numbers_;
    content content_;
    ucg_coll_args_t args_;
    std::vector<buffers> memory_;
    std::vector<request> requests_;
    std::uint64_t turn_ = 0;  // operations so far
    bool compares_;           // each received element; then each given one has its own value
    double per_tick_;         // seconds
    std::optional<std::string> wrong_;
};

}  // namespace tools::ucg_perf
