#include "tools/ucg_perf/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {
namespace {

constexpr std::uint64_t fewest_iterations = 5;
constexpr std::uint64_t most_iterations = 100'000;

wanted_layout layout_of(const options& opts, const subject& row) {
    return {row.collective, row.bytes / ucg_type_size(opts.type), opts.root, opts.in_place};
}

// Returns the arguments that are the same in all iterations.
ucg_coll_args_t arguments_of(const options& opts, const subject& row,
                             const ucg::reference::layout& rank_layout) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = row.collective;
    args.count = rank_layout.count;
    args.type = opts.type;
    args.op = opts.op;
    args.root = opts.root;
    args.timeout = opts.limit;
    args.algorithm = row.algorithm;
    if (opts.in_place && traits_of(row.collective).has_two_buffers) args.flags |= UCG_COLL_IN_PLACE;
    if (opts.deterministic) args.flags |= UCG_COLL_DETERMINISTIC;
    if (!rank_layout.source_counts.empty()) args.src_counts = rank_layout.source_counts.data();
    if (!rank_layout.target_counts.empty()) args.dst_counts = rank_layout.target_counts.data();
    return args;
}

}  // namespace

trial::trial(const job& this_job, const options& opts, const subject& row)
    : job_(this_job),
      opts_(opts),
      wanted_(layout_of(opts, row)),
      element_(ucg_type_size(opts.type)),
      layout_(make_layout(wanted_, this_job.rank(), this_job.size())),
      content_(layout_, {opts.type, opts.op, element_, {}}, this_job.rank(), this_job.size()),
      args_(arguments_of(opts, row, layout_)),
      compares_(opts.validate || opts.validate_once),
      per_tick_(nanoseconds_per_tick() * 1e-9) {
    check_memory(static_cast<double>(layout_.source_elements + layout_.target_elements) *
                 static_cast<double>(element_) * opts.buffers);
    for (std::uint32_t i = 0; i < opts.buffers; ++i) {
        memory_.push_back({page_memory(layout_.source_elements * element_),
                           page_memory(layout_.target_elements * element_)});
    }
    // Blocking calls prepare their requests internally. The prepared request still tells which
    // algorithm the library chose.
    for (std::uint32_t i = 0; i < opts.in_flight; ++i) {
        args_.src = memory_[i].source.get();
        args_.dst = memory_[i].target.get();
        requests_.push_back(this_job.prepare(args_));
    }
}

void trial::write() {
    for (std::uint64_t i = 0; i < opts_.in_flight; ++i) {
        const std::uint64_t turn = turn_ + i;
        const buffers& memory = buffers_of_turn(turn);
        if (compares_)
            content_.write(memory.source.get(), memory.target.get(), turn);
        else
            write_uniform(memory, layout_, opts_.type, turn + job_.rank());
        args_.src = memory.source.get();
        args_.dst = memory.target.get();
        if (memory_.size() == opts_.in_flight || opts_.call_mode == mode::blocking) continue;
        require_ok(
            ucg_request_set_buffers(requests_[i].get(), memory.source.get(), memory.target.get()),
            "changing buffers");
    }
}

void trial::call() {
    const char* const name = ucg_coll_name(args_.coll);
    if (opts_.call_mode == mode::blocking)
        return require_ok(ucg_collective(job_.group(), &args_), name);
    for (const request& each : requests_)
        require_ok(ucg_request_start(each.get()), name);
    // Wait for all requests, even after a failure: they must end before their buffers are freed.
    ucs_status_t first = UCS_OK;
    std::string missing;
    for (const request& each : requests_) {
        const ucs_status_t status = ucg_request_wait(each.get());
        if (first != UCS_OK || status == UCS_OK) continue;
        first = status;
        missing = missing_ranks(each.get());
    }
    if (first != UCS_OK)
        throw failure(fmt::format("{}: {}{}", name, ucs_status_string(first), missing));
}

void trial::compare() {
    for (std::uint64_t i = 0; i < opts_.in_flight && !error_; ++i) {
        error_ = content_.find_error(buffers_of_turn(turn_ + i).target.get(), turn_ + i);
        if (!error_) continue;
        fmt::print(stderr, "ucg_perf: rank {}: {} of {} elements by {}, operation {}: {}\n",
                   job_.rank(), ucg_coll_name(args_.coll), wanted_.count,
                   args_.algorithm != nullptr ? args_.algorithm : "the algorithm chosen", turn_ + i,
                   *error_);
    }
}

double trial::iterate() {
    write();
    job_.line_up();
    const std::uint64_t begin = read_ticks();
    call();
    const std::uint64_t end = read_ticks();
    if (compares_) compare();
    turn_ += opts_.in_flight;
    return static_cast<double>(end - begin) * per_tick_ / opts_.in_flight;
}

void trial::warm_up(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
        (void)iterate();
}

// Estimates how many iterations fit the time from a few iterations. Writing and comparing count.
std::uint64_t trial::iterations() {
    constexpr double enough = 0.1;     // share of the time that the estimate needs
    constexpr std::uint64_t few = 32;  // one disturbed iteration distorts a smaller sample
    warm_up(opts_.warm_up.value_or(2));
    for (std::uint64_t tried = 2;; tried *= 4) {
        const std::uint64_t begin = monotonic_ns();
        warm_up(tried);
        const double took = job_.largest(static_cast<double>(monotonic_ns() - begin) * 1e-9);
        const double least = tried < few ? opts_.seconds : enough * opts_.seconds;
        if (took < least && tried < most_iterations) continue;
        const double fit = static_cast<double>(tried) * opts_.seconds / std::max(took, 1e-9);
        return static_cast<std::uint64_t>(std::clamp(fit, static_cast<double>(fewest_iterations),
                                                     static_cast<double>(most_iterations)));
    }
}

measurement trial::run() {
    std::uint64_t count = 0;
    if (opts_.validate_once) (void)iterate();
    compares_ = opts_.validate;
    if (opts_.iterations) {
        count = *opts_.iterations;
        warm_up(opts_.warm_up.value_or(std::max<std::uint64_t>(count / 10, 2)));
    } else {
        count = iterations();
    }
    measurement made;
    made.times.resize(count);
    for (double& each : made.times)
        each = iterate();
    job_.largest(made.times);
    made.correct = job_.largest(error_ ? 1 : 0) == 0;
    ucg_request_attr_t about = UCG_REQUEST_ATTR_INIT;
    require_ok(ucg_request_query(requests_.front().get(), &about), "querying a request");
    made.algorithm = about.algorithm;
    made.reason = about.reason;
    return made;
}

}  // namespace tools::ucg_perf
