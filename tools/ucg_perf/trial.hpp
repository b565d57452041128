// Measures one row of ucg_perf's table: a collective with one size.
#pragma once

#include "tools/ucg_perf/buffers.hpp"
#include "tools/ucg_perf/job.hpp"
#include "tools/ucg_perf/options.hpp"
#include "ucg/reference/content.hpp"

namespace tools::ucg_perf {

// The collective, size and algorithm of a row; the same on every rank.
struct subject {
    ucg_coll_t collective = UCG_COLL_ALLREDUCE;
    std::uint64_t bytes = 0;
    const char* algorithm = nullptr;  // null: the library chooses
};

struct measurement {
    std::vector<double> times;  // seconds of each iteration on its slowest rank
    std::string algorithm;
    std::string reason;
    bool correct = true;  // no rank found a wrong element; also true if nothing was compared
};

// Measures one row. All ranks create and run their trial together, once.
class trial {
public:
    trial(const job& this_job, const options& opts, const subject& row);
    trial(const trial&) = delete;
    trial& operator=(const trial&) = delete;

    // Throws failure. Prints a wrong element of this rank to the error output.
    [[nodiscard]] measurement run();

private:
    // Runs one iteration with all concurrent operations. Returns seconds per operation.
    double iterate();
    void write();
    void compare();
    void call();
    [[nodiscard]] const buffers& buffers_of_turn(std::uint64_t turn) const {
        return memory_[turn % memory_.size()];
    }
    [[nodiscard]] std::uint64_t iterations();
    void warm_up(std::uint64_t count);

    const job& job_;
    const options& opts_;
    wanted_layout wanted_;
    std::size_t element_;  // bytes
    ucg::reference::layout layout_;
    ucg::reference::content content_;
    ucg_coll_args_t args_;
    std::vector<buffers> memory_;
    std::vector<request> requests_;
    std::uint64_t turn_ = 0;  // number of the next operation; selects its buffers and data
    // If set, all input elements have different values, and each output element is checked. If
    // not, one value fills the input.
    bool compares_;
    double per_tick_;  // seconds of a tick of read_ticks()
    std::optional<std::string> error_;
};

}  // namespace tools::ucg_perf
