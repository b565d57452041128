// Measures collectives of an MPI with the loop of ucg_perf -m blocking: data are written before
// each call, then barrier, start barrier, call. The time of an iteration is that of its slowest
// rank. One untimed call is checked before. Prints CSV with columns that ucg_perf -f has, too, and
// exits with 1 if a result was wrong.
//
//   mpi_collectives COLLECTIVES SECONDS SIZE...
//
// COLLECTIVES are names separated by commas. SIZE is in bytes; for collectives with one block per
// rank it is the size of a block. HAWSER_BENCH_CPUS is a comma-separated list of processors: the
// ranks of a machine are bound to them in turn, before MPI touches any memory.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "test/bench/bind.h"
#include "tools/common/start_barrier.hpp"

namespace {

constexpr int fewest = 5, few = 32, most = 100'000;

int rank, ranks;
double per_tick;  // seconds
float *from, *into;
tools::start_barrier start;

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "mpi_collectives: %s\n", why.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

// Index of this rank on this machine, from the launcher's environment; -1: unknown.
int local_rank() {
    for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"})
        if (const char* const text = std::getenv(name)) return std::atoi(text);
    return -1;
}

// Binds this rank if HAWSER_BENCH_CPUS is set. Returns false on failure. Must be called before
// MPI_Init.
bool bind_to_processor() {
    const char* const list = std::getenv("HAWSER_BENCH_CPUS");
    if (list == nullptr || *list == '\0') return true;
    const int rank_here = local_rank();
    return rank_here >= 0 && bind_to_entry(list, static_cast<unsigned long>(rank_here)) != 0;
}

// Makes the start barrier if all ranks are on one machine. Otherwise the MPI's barrier is the only
// one.
void make_start_barrier() {
    tools::start_barrier::address where;
    if (rank == 0 && start.make(static_cast<std::uint32_t>(ranks))) where = start.where();
    MPI_Bcast(&where, sizeof where, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank != 0 && where.process != 0) (void)start.join(where);
    int open = start.is_open() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &open, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (open == 0) start.leave();
}

void line_up() {
    const auto idle = [] {
        int flag = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    };
    MPI_Barrier(MPI_COMM_WORLD);
    if (!start.is_open() || start.wait(idle)) return;
    start.leave();
    std::fprintf(stderr,
                 "mpi_collectives: rank %d: another one did not come for seconds; from here on "
                 "times begin after a barrier\n",
                 rank);
}

double now() {
    return static_cast<double>(tools::monotonic_ns()) * 1e-9;
}

// One collective and the number of floats of its blocks.
struct subject {
    std::string name;
    std::size_t bytes;
    int count;

    [[nodiscard]] bool is(const char* other) const { return name == other; }
    [[nodiscard]] bool gives_each() const { return is("alltoall") || is("reduce_scatter_block"); }
    [[nodiscard]] bool gets_each() const { return is("alltoall") || is("allgather"); }
    [[nodiscard]] bool reduces() const {
        return is("reduce") || is("allreduce") || is("reduce_scatter_block");
    }
    // Only the root of a broadcast has input, and only the root of a reduction has output.
    [[nodiscard]] bool gives() const { return !is("barrier") && (!is("bcast") || rank == 0); }
    [[nodiscard]] bool gets() const { return !is("barrier") && (!is("reduce") || rank == 0); }
    [[nodiscard]] std::size_t given() const { return floats(gives_each()); }
    [[nodiscard]] std::size_t got() const { return floats(gets_each()); }

private:
    [[nodiscard]] std::size_t floats(bool of_each) const {
        return static_cast<std::size_t>(count) * (of_each ? static_cast<std::size_t>(ranks) : 1);
    }
};

void call(const subject& tested) {
    const int count = tested.count;
    if (tested.is("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    else if (tested.is("bcast"))
        MPI_Bcast(from, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else if (tested.is("reduce"))
        MPI_Reduce(from, into, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (tested.is("allreduce"))
        MPI_Allreduce(from, into, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (tested.is("allgather"))
        MPI_Allgather(from, count, MPI_FLOAT, into, count, MPI_FLOAT, MPI_COMM_WORLD);
    else if (tested.is("alltoall"))
        MPI_Alltoall(from, count, MPI_FLOAT, into, count, MPI_FLOAT, MPI_COMM_WORLD);
    else if (tested.is("reduce_scatter_block"))
        MPI_Reduce_scatter_block(from, into, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
        fail("there is no collective \"" + tested.name + "\" here");
}

// --- the call that is compared ---

// Element `i` of a rank's input: an integer small enough for exact sums.
float value_of(int giver, std::size_t i) {
    return static_cast<float>((i * 31 + static_cast<std::size_t>(giver) * 7 + i / 64) % 61);
}

// Element `i` of this rank's expected result.
float wanted(const subject& tested, std::size_t i) {
    const auto count = static_cast<std::size_t>(tested.count);
    const std::size_t first = static_cast<std::size_t>(rank) * count;
    if (tested.is("bcast")) return value_of(0, i);
    if (tested.is("allgather")) return value_of(static_cast<int>(i / count), i % count);
    if (tested.is("alltoall")) return value_of(static_cast<int>(i / count), first + i % count);
    float sum = 0;
    for (int r = 0; r < ranks; ++r)
        sum += value_of(r, tested.is("reduce_scatter_block") ? first + i : i);
    return sum;
}

bool is_right(const subject& tested) {
    const float* const got = tested.is("bcast") ? from : into;
    for (std::size_t i = 0; tested.gives() && i < tested.given(); ++i)
        from[i] = value_of(rank, i);
    call(tested);
    int wrong = 0;
    for (std::size_t i = 0; tested.gets() && i < tested.got() && wrong == 0; ++i) {
        const float want = wanted(tested, i);
        if (got[i] == want) continue;
        std::fprintf(stderr,
                     "mpi_collectives: rank %d: %s of %zu bytes: element %zu is %g, not %g\n", rank,
                     tested.name.c_str(), tested.bytes, i, static_cast<double>(got[i]),
                     static_cast<double>(want));
        wrong = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return wrong == 0;
}

// --- the calls that are timed ---

// Returns the seconds of one call.
double iterate(const subject& tested, long turn) {
    if (tested.gives()) std::fill_n(from, tested.given(), static_cast<float>((turn + rank) % 64));
    line_up();
    const std::uint64_t begin = tools::read_ticks();
    call(tested);
    return static_cast<double>(tools::read_ticks() - begin) * per_tick;
}

// Number of iterations that fit into the time, estimated from some calls.
int iterations(const subject& tested, double seconds) {
    for (int i = 0; i < 2; ++i)
        iterate(tested, i);
    for (long tried = 2;; tried *= 4) {
        const double begin = now();
        for (long i = 0; i < tried; ++i)
            iterate(tested, i);
        double took = now() - begin;
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (took < (tried < few ? seconds : 0.1 * seconds) && tried < most) continue;
        const double fit = static_cast<double>(tried) * seconds / std::max(took, 1e-9);
        return static_cast<int>(std::clamp(fit, double{fewest}, double{most}));
    }
}

// The smallest time that is not below `percent` percent of all; microseconds.
double percentile(const std::vector<double>& ordered, std::size_t percent) {
    const std::size_t rank_here = (ordered.size() * percent + 99) / 100;
    return ordered[rank_here > 0 ? rank_here - 1 : 0] * 1e6;
}

// Allocates memory whose pages were written.
float* pages(std::size_t floats) {
    constexpr std::size_t page = 4096;
    void* made = nullptr;
    if (posix_memalign(&made, page, floats * sizeof(float) + page) != 0)
        fail("no memory for " + std::to_string(floats) + " floats");
    std::memset(made, 0xa5, floats * sizeof(float) + page);
    return static_cast<float*>(made);
}

bool measure(const subject& tested, double seconds) {
    from = pages(tested.given());
    into = pages(tested.got());
    const bool right = is_right(tested);
    const int n = iterations(tested, seconds);
    std::vector<double> times(static_cast<std::size_t>(n));
    int turn = 0;
    for (double& each : times)
        each = iterate(tested, turn++);
    MPI_Allreduce(MPI_IN_PLACE, times.data(), n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        std::sort(times.begin(), times.end());
        std::printf("%s,%zu,%d,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%s\n", tested.name.c_str(), tested.bytes,
                    ranks, n, times.front() * 1e6, percentile(times, 50), percentile(times, 95),
                    percentile(times, 99), times.back() * 1e6, right ? "right" : "WRONG");
        std::fflush(stdout);
    }
    std::free(from);
    std::free(into);
    return right;
}

bool measure_all(char* names, double seconds, const std::vector<std::size_t>& sizes) {
    bool right = true;
    for (const char* name = std::strtok(names, ","); name != nullptr;
         name = std::strtok(nullptr, ",")) {
        const bool sized = std::strcmp(name, "barrier") != 0;
        for (const std::size_t bytes : sized ? sizes : std::vector<std::size_t>{0}) {
            const subject tested{name, bytes, static_cast<int>(bytes / sizeof(float))};
            right = measure(tested, seconds) && right;
        }
    }
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    const bool bound = bind_to_processor();
    (void)tools::nanoseconds_per_tick();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!bound) fail("HAWSER_BENCH_CPUS, or which rank of this machine it is: cannot bind");
    const double seconds = argc < 4 ? 0 : std::atof(argv[2]);
    std::vector<std::size_t> sizes;
    for (int i = 3; i < argc; ++i)
        sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    const bool fits = std::all_of(sizes.begin(), sizes.end(), [](std::size_t bytes) {
        return bytes <= std::size_t{1} << 32 && bytes % sizeof(float) == 0;
    });
    if (seconds <= 0 || !fits) {
        if (rank == 0) std::fprintf(stderr, "usage: mpi_collectives COLLECTIVES SECONDS SIZE...\n");
        MPI_Finalize();
        return 2;
    }
    per_tick = tools::nanoseconds_per_tick() * 1e-9;
    make_start_barrier();
    if (rank == 0)
        std::printf(
            "collective,bytes,ranks,iterations,min_us,median_us,p95_us,p99_us,max_us,result\n");
    const bool right = measure_all(argv[1], seconds, sizes);
    MPI_Finalize();
    return right ? 0 : 1;
}
