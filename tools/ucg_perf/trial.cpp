#include "tools/ucg_perf/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/common/failure.hpp"
#include "tools/common/ticks.hpp"

namespace tools::ucg_perf {
namespace {

constexpr std::uint64_t fewest_iterations = 5;
constexpr std::uint64_t most_iterations = 100'000;

wanted_layout layout_of(const options& by, const subject& what) {
    return {what.what, what.bytes / ucg_type_size(by.type), by.root, by.in_place};
}

// What does not change from turn to turn.
ucg_coll_args_t arguments_of(const options& by, const subject& what, const layout& of) {
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = what.what;
    args.count = of.count;
    args.type = by.type;
    args.op = by.op;
    args.root = by.root;
    args.timeout = by.limit;
    args.algorithm = what.algorithm;
    if (of.in_place) args.flags |= UCG_COLL_IN_PLACE;
    if (by.deterministic) args.flags |= UCG_COLL_DETERMINISTIC;
    if (!of.source_counts.empty()) args.src_counts = of.source_counts.data();
    if (!of.target_counts.empty()) args.dst_counts = of.target_counts.data();
    return args;
}

}  // namespace

trial::trial(const job& with, const options& by, const subject& what)
    : with_(with),
      by_(by),
      wanted_(layout_of(by, what)),
      layout_(make_layout(wanted_, with.rank(), with.size())),
      numbers_(by.type, by.op, with.size()),
      content_(layout_, numbers_, with.rank()),
      args_(arguments_of(by, what, layout_)),
      compares_(by.validate || by.validate_once),
      per_tick_(nanoseconds_per_tick() * 1e-9) {
    const std::size_t element = numbers_.element();
    check_memory(static_cast<double>(layout_.source_elements + layout_.target_elements) *
                 static_cast<double>(element) * by.buffers);
    for (std::uint32_t i = 0; i < by.buffers; ++i) {
        memory_.push_back({page_memory(layout_.source_elements * element),
                           page_memory(layout_.target_elements * element)});
    }
    // Blocking calls prepare by themselves; one is made to be asked what was chosen.
    for (std::uint32_t i = 0; i < by.in_flight; ++i) {
        args_.src = memory_[i].source.get();
        args_.dst = memory_[i].target.get();
        requests_.push_back(with.prepare(args_));
    }
}

void trial::write() {
    for (std::uint64_t i = 0; i < by_.in_flight; ++i) {
        const std::uint64_t turn = turn_ + i;
        const buffers& at = of_turn(turn);
        if (compares_)
            content_.write(at.source.get(), at.target.get(), turn);
        else
            content_.write_anew(at.source.get(), at.target.get(), turn);
        args_.src = at.source.get();
        args_.dst = at.target.get();
        if (memory_.size() == by_.in_flight || by_.how == mode::blocking) continue;
        check(ucg_request_set_buffers(requests_[i].get(), at.source.get(), at.target.get()),
              "changing buffers");
    }
}

void trial::call() {
    const char* const name = ucg_coll_name(args_.coll);
    if (by_.how == mode::blocking) return check(ucg_collective(with_.group(), &args_), name);
    for (const request& each : requests_)
        check(ucg_request_start(each.get()), name);
    // All end, the failed ones as well, before their buffers go.
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
    for (std::uint64_t i = 0; i < by_.in_flight && !wrong_; ++i) {
        wrong_ = content_.wrong(of_turn(turn_ + i).target.get(), turn_ + i);
        if (!wrong_) continue;
        fmt::print(stderr, "ucg_perf: rank {}: {} of {} elements by {}, operation {}: {}\n",
                   with_.rank(), ucg_coll_name(args_.coll), wanted_.count,
                   args_.algorithm != nullptr ? args_.algorithm : "the algorithm chosen", turn_ + i,
                   *wrong_);
    }
}

double trial::iterate() {
    write();
    with_.line_up();
    const std::uint64_t begin = read_ticks();
    call();
    const std::uint64_t end = read_ticks();
    if (compares_) compare();
    turn_ += by_.in_flight;
    return static_cast<double>(end - begin) * per_tick_ / by_.in_flight;
}

void trial::warm_up(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
        (void)iterate();
}

// As many as fit the time, by how long some take; writing and comparing count.
std::uint64_t trial::iterations() {
    constexpr double enough = 0.1;     // of the time, to go by
    constexpr std::uint64_t few = 32;  // one that was disturbed counts much among so many
    warm_up(by_.warm_up.value_or(2));
    for (std::uint64_t tried = 2;; tried *= 4) {
        const std::uint64_t begin = monotonic_ns();
        warm_up(tried);
        const double took = with_.largest(static_cast<double>(monotonic_ns() - begin) * 1e-9);
        const double least = tried < few ? by_.seconds : enough * by_.seconds;
        if (took < least && tried < most_iterations) continue;
        const double fit = static_cast<double>(tried) * by_.seconds / std::max(took, 1e-9);
        return static_cast<std::uint64_t>(std::clamp(fit, static_cast<double>(fewest_iterations),
                                                     static_cast<double>(most_iterations)));
    }
}

measurement trial::run() {
    std::uint64_t count = 0;
    if (by_.validate_once) (void)iterate();
    compares_ = by_.validate;
    if (by_.iterations) {
        count = *by_.iterations;
        warm_up(by_.warm_up.value_or(std::max<std::uint64_t>(count / 10, 2)));
    } else {
        count = iterations();
    }
    measurement made;
    made.times.resize(count);
    for (double& each : made.times)
        each = iterate();
    with_.largest(made.times);
    made.right = with_.largest(wrong_ ? 1 : 0) == 0;
    ucg_request_attr_t about = UCG_REQUEST_ATTR_INIT;
    check(ucg_request_query(requests_.front().get(), &about), "asking a request");
    made.algorithm = about.algorithm;
    made.reason = about.reason;
    return made;
}

}  // namespace tools::ucg_perf
