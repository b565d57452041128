#include "tools/ucg_perf/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {

void check(ucs_status_t status, std::string_view what) {
    if (status == UCS_OK) return;
    throw failure(fmt::format("{}: {}", what, ucs_status_string(status)));
}

namespace {

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

job::job(ucg_oob_t* over) : over_(over) {
    ucg_context_h context = nullptr;
    check(ucg_context_create(nullptr, &context), "making a context");
    context_.reset(context);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = over;
    ucg_group_h group = nullptr;
    check(ucg_group_create(context, &params, &group), "making the group");
    group_.reset(group);
    check(ucg_group_wait(group), "making the group");
    check(ucg_group_query(group, &about_), "asking the group");
    ucg_coll_args_t args = UCG_COLL_ARGS_INIT;
    args.coll = UCG_COLL_BARRIER;
    barrier_ = prepare(args);
    if (about_.nodes == 1 && about_.size > 1) make_start_line();
}

void job::make_start_line() {
    tools::start_line::address where;
    if (rank() == 0 && start_.make(size())) where = start_.where();
    check(ucg_bcast(group_.get(), &where, sizeof where, UCG_TYPE_UINT8, 0),
          "telling where to start");
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

void job::barrier() const {
    check(ucg_request_start(barrier_.get()), "barrier");
    check(ucg_request_wait(barrier_.get()), "barrier");
}

void job::largest(std::span<double> values) const {
    check(ucg_allreduce(group_.get(), UCG_IN_PLACE, values.data(), values.size(), UCG_TYPE_FP64,
                        UCG_OP_MAX),
          "comparing times");
}

}  // namespace tools::ucg_perf
