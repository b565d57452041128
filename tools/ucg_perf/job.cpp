#include "tools/ucg_perf/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "tools/common/failure.hpp"

namespace tools::ucg_perf {

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

// Seconds that a rank waits for the other ranks when the user sets no limit. All ranks run the same
// measurement and differ by moments only.
constexpr double default_limit = 300;

// The machine's boot id; all zero if it cannot be read.
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

std::uint32_t index_on_machine(const ucg_oob_t& oob) {
    const machine_name own = this_machine();
    std::vector<machine_name> all(oob.size);
    void* round = nullptr;
    require_ok(oob.allgather(oob.arg, own.data(), all.data(), own.size(), &round),
               "exchanging the names of the machines");
    ucs_status_t status = UCS_INPROGRESS;
    while ((status = oob.test(oob.arg, round)) == UCS_INPROGRESS)
        ::sched_yield();
    oob.release(oob.arg, round);
    require_ok(status, "exchanging the names of the machines");
    std::uint32_t before = 0;
    for (std::uint32_t rank = 0; rank < oob.rank; ++rank)
        before += all[rank] == own ? 1U : 0U;
    return before;
}

job::job(ucg_oob_t* oob, double limit) : oob_(oob), limit_(limit > 0 ? limit : default_limit) {
    ucg_context_h context = nullptr;
    require_ok(ucg_context_create(nullptr, &context), "creating a context");
    context_.reset(context);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = oob;
    params.timeout = limit_;
    ucg_group_h group = nullptr;
    require_ok(ucg_group_create(context, &params, &group), "creating the group");
    group_.reset(group);
    require_ok(ucg_group_wait(group), "creating the group");
    require_ok(ucg_group_query(group, &about_), "querying the group");
    barrier_ = prepare(arguments(UCG_COLL_BARRIER));
    if (about_.nodes == 1 && about_.size > 1) make_start_barrier();
}

void job::make_start_barrier() {
    constexpr double longest = 5;
    tools::start_barrier::address start_address;
    const auto limit_ms = static_cast<std::uint32_t>(std::min(limit_, longest) * 1000);
    if (rank() == 0 && start_.make(size(), limit_ms)) start_address = start_.where();
    ucg_coll_args_t args = arguments(UCG_COLL_BCAST);
    args.src = args.dst = &start_address;
    args.count = sizeof start_address;
    args.type = UCG_TYPE_UINT8;
    run(prepare(args), "sending the address of the start barrier");
    if (rank() != 0 && start_address.process != 0) (void)start_.join(start_address);
    if (largest(start_.is_open() ? 0 : 1) != 0) start_.leave();
}

void job::line_up() const {
    barrier();
    if (!start_.is_open() || start_.wait([this] { (void)ucg_progress(context_.get()); })) return;
    start_.leave();
    fmt::print(
        stderr,
        "ucg_perf: rank {}: another rank did not reach the start barrier for seconds; from now "
        "on each measurement begins after an ordinary barrier\n",
        rank());
}

request job::prepare(const ucg_coll_args_t& args) const {
    ucg_request_h made = nullptr;
    const ucs_status_t status = ucg_request_init(group_.get(), &args, &made);
    request owned(made);
    require_ok(status, fmt::format("preparing {}", ucg_coll_name(args.coll)));
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

namespace {

// Bounds, in seconds, of the time that the other ranks get to notice the failure of a rank.
constexpr double longest_grace = 30;
constexpr double shortest_grace = 1;

// The rank processes, in the process that forked them.
class local_processes {
public:
    explicit local_processes(double limit)
        : grace_(limit > 0 ? std::clamp(limit, shortest_grace, longest_grace) : longest_grace) {}
    void add(pid_t process) { running_.push_back(process); }
    ~local_processes() {
        for (const pid_t each : running_) {
            if (each == 0) continue;
            ::kill(each, SIGKILL);
            (void)::waitpid(each, nullptr, 0);
        }
    }

    int wait_for_all() {
        std::size_t left = running_.size();
        while (left != 0) {
            int wait_status = 0;
            const pid_t ended = ::waitpid(-1, &wait_status, WUNTRACED | (failed_ ? WNOHANG : 0));
            if (ended < 0 && errno != EINTR) break;
            if (ended > 0)
                left -= reap(ended, wait_status);
            else if (failed_ && !wait_within_grace())
                return status_;
        }
        return status_;
    }

private:
    // Returns how many processes have ended: 1, or 0 if the process was only stopped.
    std::size_t reap(pid_t ended, int wait_status) {
        for (std::size_t rank = 0; rank < running_.size(); ++rank) {
            if (running_[rank] != ended) continue;
            if (WIFSTOPPED(wait_status)) {
                fmt::print(stderr, "ucg_perf: rank {} was stopped by signal {} ({})\n", rank,
                           WSTOPSIG(wait_status), ::strsignal(WSTOPSIG(wait_status)));
                return 0;
            }
            running_[rank] = 0;
            record_exit(rank, wait_status);
            return 1;
        }
        return 0;
    }
    void record_exit(std::size_t rank, int wait_status) {
        if (WIFSIGNALED(wait_status)) {
            fmt::print(stderr, "ucg_perf: rank {} was ended by signal {} ({})\n", rank,
                       WTERMSIG(wait_status), ::strsignal(WTERMSIG(wait_status)));
        }
        const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : exit_failure;
        if (status == 0 || failed_) return;
        failed_ = true;
        status_ = status;
    }
    // Sleeps for a moment. Returns false if the time of grace is over.
    bool wait_within_grace() {
        constexpr long pause_ns = 10'000'000;
        constexpr long pauses_of_a_second = 100;
        const timespec pause{0, pause_ns};
        (void)::nanosleep(&pause, nullptr);
        if (static_cast<double>(++pauses_) < grace_ * pauses_of_a_second) return true;
        for (std::size_t rank = 0; rank < running_.size(); ++rank) {
            if (running_[rank] == 0) continue;
            fmt::print(stderr, "ucg_perf: rank {} does not end; it is killed\n", rank);
        }
        return false;
    }

    const double grace_;
    std::vector<pid_t> running_;  // by rank; 0: ended
    bool failed_ = false;
    int status_ = 0;
    long pauses_ = 0;
};

}  // namespace

int run_local_ranks(std::uint32_t count, double limit,
                    const std::function<int(std::uint32_t, ucg_oob_t*)>& body) {
    std::vector<ucg_oob_t*> exchanges(count);
    require_ok(ucg_oob_create_local(count, exchanges.data()), "joining ranks");
    (void)std::fflush(nullptr);
    const pid_t parent = ::getpid();
    local_processes started(limit);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
        const pid_t process = ::fork();
        if (process < 0) throw failure(fmt::format("fork: {}", std::strerror(errno)));
        if (process == 0) {
            // A rank ends when the parent ends, so that killing the parent ends the job.
            if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(1);
            const int status = body(rank, exchanges[rank]);
            ::_exit(std::fflush(stdout) == 0 ? status : exit_failure);
        }
        started.add(process);
    }
    for (ucg_oob_t* const each : exchanges)
        ucg_oob_destroy(each);
    return started.wait_for_all();
}

}  // namespace tools::ucg_perf
