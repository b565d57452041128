// Lower bound for a barrier of two processes: the loop of ucg_perf -m blocking, in which each
// process only writes a flag and waits for the other's flag. It uses the same start barrier as all
// other measurements: the process that comes last begins first, by the time that a cache line takes
// from one processor to the other. Prints the CSV columns of mpi_collectives.
//
//   flags CPU CPU ITERATIONS
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tools/common/start_barrier.hpp"

namespace {

struct alignas(128) flag {
    std::atomic<std::uint64_t> rounds;
};

// Used in turn, so that no write waits for the cache line of the previous flag.
constexpr std::size_t in_turn = 4;

struct shared {
    flag before[2];
    flag timed[in_turn][2];
};

::pid_t parent = 0;  // of the second process

[[noreturn]] void fail(const char* operation) {
    std::perror(operation);
    if (parent != 0) ::kill(parent, SIGTERM);  // the child waits for a flag of this process
    std::exit(1);
}

void* shared_memory(std::size_t bytes) {
    void* const made =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) fail("flags: memory");
    return made;
}

void exchange(flag& own, const flag& other, std::uint64_t round) {
    own.rounds.store(round, std::memory_order_release);
    while (other.rounds.load(std::memory_order_acquire) < round) {
    }
}

void bind_to(int cpu) {
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    CPU_SET(static_cast<std::size_t>(cpu), &chosen);
    if (::sched_setaffinity(0, sizeof chosen, &chosen) != 0) fail("flags: processor");
}

void measure(shared& with, tools::start_barrier& start, std::size_t me, std::size_t rounds,
             double* times) {
    for (std::size_t i = 0; i < rounds; ++i) {
        auto& timed = with.timed[i % in_turn];
        exchange(with.before[me], with.before[1 - me], i + 1);
        if (!start.wait([] {})) fail("flags: the other process does not come");
        const std::uint64_t begin = tools::read_ticks();
        exchange(timed[me], timed[1 - me], i + 1);
        times[i] = static_cast<double>(tools::read_ticks() - begin);
    }
    for (std::size_t i = 0; i < rounds; ++i)
        times[i] *= tools::nanoseconds_per_tick() * 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
    const long asked = argc == 4 ? std::atol(argv[3]) : 0;
    if (asked < 1) {
        std::fprintf(stderr, "usage: flags CPU CPU ITERATIONS\n");
        return 2;
    }
    const auto rounds = static_cast<std::size_t>(asked);
    (void)tools::nanoseconds_per_tick();
    auto& with = *static_cast<shared*>(shared_memory(sizeof(shared)));
    auto* const times = static_cast<double*>(shared_memory(2 * rounds * sizeof(double)));
    tools::start_barrier own, joined;
    if (!own.make(2)) fail("flags: start barrier");
    const ::pid_t first = ::getpid(), other = ::fork();
    if (other < 0) fail("flags: process");
    const std::size_t me = other == 0 ? 1 : 0;
    if (me == 1) {
        parent = first;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    bind_to(std::atoi(argv[1 + me]));
    if (me == 1 && !joined.join(own.where())) fail("flags: start barrier");
    measure(with, me == 0 ? own : joined, me, rounds, times + me * rounds);
    if (me == 1) std::_Exit(0);
    int status = 0;
    if (::waitpid(other, &status, 0) != other || status != 0) fail("flags: the other process");

    std::vector<double> slowest(rounds);
    std::transform(times, times + rounds, times + rounds, slowest.begin(),
                   [](double one, double two) { return std::max(one, two); });
    std::sort(slowest.begin(), slowest.end());
    const auto percentile = [&](double part) {
        return slowest[static_cast<std::size_t>(part * static_cast<double>(rounds - 1))];
    };
    std::printf("collective,bytes,ranks,iterations,min_us,median_us,p95_us,p99_us,max_us,result\n");
    std::printf("barrier,0,2,%zu,%.3f,%.3f,%.3f,%.3f,%.3f,right\n", rounds, slowest.front(),
                percentile(0.5), percentile(0.95), percentile(0.99), slowest.back());
    return 0;
}
