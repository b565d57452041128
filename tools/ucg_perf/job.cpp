#include "tools/ucg_perf/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {

void check(ucs_status_t status, std::string_view what) {
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}", what, ucs_status_string(status)));
}

std::string missing_ranks(ucg_request_h operation) {
    std::array<std::uint32_t, 8> ranks;
    ucg_request_attr_t about = UCG_REQUEST_ATTR_INIT;
    about.missing = ranks.data();
    about.missing_max = ranks.size();
    if (ucg_request_query(operation, &about) != UCS_OK || about.missing_count == 0) return {};
    const auto shown = std::min<std::size_t>(about.missing_count, ranks.size());
    const std::size_t more = about.missing_count - shown;
    const bool one = about.missing_count == 1;
    return fmt::format("; rank{} {}{} {} missing", one ? "" : "s",
                       fmt::join(std::span(ranks).first(shown), ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more), one ? "is" : "are");
}

namespace {

// Seconds that a job without a limit of its own waits for the others: they measure the same, and
// differ by moments.
constexpr double default_limit = 300;

// Of the machine as it was started; all zero where it does not say.
using machine_name = std::array<char, 36>;

machine_name this_machine() noexcept {
    machine_name made{};
    const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return made;
    if (::read(file, made.data(), made.size()) != static_cast<ssize_t>(made.size())) made.fill(0);
    ::close(file);
    return made;
}

}  // namespace

std::uint32_t place_on_machine(const ucg_oob_t& over) {
    const machine_name mine = this_machine();
    std::vector<machine_name> all(over.size);
    void* round = nullptr;
    check(over.allgather(over.arg, mine.data(), all.data(), mine.size(), &round),
          "asking where the ranks are");
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = over.test(over.arg, round)) == UCS_INPROGRESS)
        ::sched_yield();
    over.release(over.arg, round);
    check(status, "asking where the ranks are");
    std::uint32_t before = 0;
    for (std::uint32_t rank = 0; rank < over.rank; ++rank)
        before += all[rank] == mine ? 1U : 0U;
    return before;
}

job::job(ucg_oob_t* over, double limit) : over_(over), limit_(limit > 0 ? limit : default_limit) {
    ucg_context_h context = nullptr;
    check(ucg_context_create(nullptr, &context), "making a context");
    context_.reset(context);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = over;
    params.timeout = limit_;
    ucg_group_h group = nullptr;
    check(ucg_group_create(context, &params, &group), "making the group");
    group_.reset(group);
    check(ucg_group_wait(group), "making the group");
    check(ucg_group_query(group, &about_), "asking the group");
    barrier_ = prepare(arguments(UCG_COLL_BARRIER));
    if (about_.nodes == 1 && about_.size > 1) make_start_line();
}

void job::make_start_line() {
    constexpr double longest = 5;
    tools::start_line::address where;
    const auto limit_ms = static_cast<std::uint32_t>(std::min(limit_, longest) * 1000);
    if (rank() == 0 && start_.make(size(), limit_ms)) where = start_.where();
    ucg_coll_args_t args = arguments(UCG_COLL_BCAST);
    args.src = args.dst = &where;
    args.count = sizeof where;
    args.type = UCG_TYPE_UINT8;
    run(prepare(args), "telling where to start");
    if (rank() != 0 && where.process != 0) (void)start_.join(where);
    if (largest(start_.is_open() ? 0 : 1) != 0) start_.leave();
}

void job::line_up() const {
    barrier();
    if (!start_.is_open() || start_.meet([this] { (void)ucg_progress(context_.get()); })) return;
    start_.leave();
    fmt::print(stderr,
               "ucg_perf: rank {}: another one did not come for seconds; from here on times "
               "begin after a barrier\n",
               rank());
}

request job::prepare(const ucg_coll_args_t& args) const {
    ucg_request_h made = nullptr;
    const ucs_status_t status = ucg_request_init(group_.get(), &args, &made);
    request owned(made);
    check(status, fmt::format("preparing {}", ucg_coll_name(args.coll)));
    return owned;
}

ucg_coll_args_t job::arguments(ucg_coll_t collective) const {
    ucg_coll_args_t made = UCG_COLL_ARGS_INIT;
    made.coll = collective;
    made.timeout = limit_;
    return made;
}

void job::run(const request& operation, std::string_view purpose) const {
    ucs_status_t status = ucg_request_start(operation.get());
    if (status == UCS_OK) status = ucg_request_wait(operation.get());
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}{}", purpose, ucs_status_string(status),
                              missing_ranks(operation.get())));
}

void job::barrier() const {
    run(barrier_, "barrier");
}

void job::largest(std::span<double> values) const {
    ucg_coll_args_t args = arguments(UCG_COLL_ALLREDUCE);
    args.flags = UCG_COLL_IN_PLACE;
    args.dst = values.data();
    args.count = values.size();
    args.type = UCG_TYPE_FP64;
    args.op = UCG_OP_MAX;
    run(prepare(args), "comparing times");
}

}  // namespace tools::ucg_perf
