#include "tools/ucg_perf/local_ranks.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "tools/common/failure.hpp"
#include "tools/ucg_perf/job.hpp"

namespace tools::ucg_perf {
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
    check(ucg_oob_create_local(count, exchanges.data()), "joining ranks");
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
