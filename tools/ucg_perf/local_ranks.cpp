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

// Seconds that ranks have to notice that one has failed, and that they have at least.
constexpr double longest_grace = 30;
constexpr double shortest_grace = 1;

// The processes, as the one that started them sees them.
class crew {
public:
    explicit crew(double limit)
        : grace_(limit > 0 ? std::clamp(limit, shortest_grace, longest_grace) : longest_grace) {}
    void add(pid_t process) { running_.push_back(process); }
    ~crew() {
        for (const pid_t each : running_) {
            if (each == 0) continue;
            ::kill(each, SIGKILL);
            (void)::waitpid(each, nullptr, 0);
        }
    }

    int wait_for_all() {
        std::size_t left = running_.size();
        while (left != 0) {
            int how = 0;
            const pid_t ended = ::waitpid(-1, &how, WUNTRACED | (failed_ ? WNOHANG : 0));
            if (ended < 0 && errno != EINTR) break;
            if (ended > 0)
                left -= take(ended, how);
            else if (failed_ && !wait_a_little())
                return status_;
        }
        return status_;
    }

private:
    // Returns how many processes are gone: 1, or 0 if it was only stopped.
    std::size_t take(pid_t ended, int how) {
        for (std::size_t rank = 0; rank < running_.size(); ++rank) {
            if (running_[rank] != ended) continue;
            if (WIFSTOPPED(how)) {
                fmt::print(stderr, "ucg_perf: rank {} was stopped by signal {} ({})\n", rank,
                           WSTOPSIG(how), ::strsignal(WSTOPSIG(how)));
                return 0;
            }
            running_[rank] = 0;
            note(rank, how);
            return 1;
        }
        return 0;
    }
    void note(std::size_t rank, int how) {
        if (WIFSIGNALED(how)) {
            fmt::print(stderr, "ucg_perf: rank {} was ended by signal {} ({})\n", rank,
                       WTERMSIG(how), ::strsignal(WTERMSIG(how)));
        }
        const int status = WIFEXITED(how) ? WEXITSTATUS(how) : exit_failure;
        if (status == 0 || failed_) return;
        failed_ = true;
        status_ = status;
    }
    // Whether there is time left.
    bool wait_a_little() {
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
    crew started(limit);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
        const pid_t process = ::fork();
        if (process < 0) throw failure(fmt::format("fork: {}", std::strerror(errno)));
        if (process == 0) {
            // Nobody outlives whoever was told to end the job.
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
