#include "ucg/mpi/stats.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

namespace ucg::mpi {
namespace {

using table =
    std::array<std::array<std::array<std::atomic<long>, reason_count>, form_count>, function_count>;
table counts;
std::array<std::atomic<long>, groups_count> groups_of;

constexpr std::array<const char*, function_count> names{
    "barrier",    "bcast",    "reduce",    "allreduce",      "allgather",
    "allgatherv", "alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block"};

constexpr std::array<const char*, reason_count> reasons{"taken",
                                                        "switched off",
                                                        "one rank only",
                                                        "intercommunicator",
                                                        "processes that were started apart",
                                                        "no group could be made",
                                                        "non-blocking before there was a group",
                                                        "datatype",
                                                        "operator",
                                                        "arguments"};

std::string name_of(std::size_t function, std::size_t form_index) {
    std::string name = names[function];
    if (form_index == static_cast<std::size_t>(form::nonblocking)) return "MPI_I" + name;
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return "MPI_" + name +
           (form_index == static_cast<std::size_t>(form::persistent) ? "_init" : "");
}

// "12 taken, 5 handed over: 3 datatype, 2 operator"
std::string text_of(const long* by_reason) {
    long others = 0;
    std::vector<std::size_t> order;
    for (std::size_t why = 1; why < reason_count; ++why) {
        others += by_reason[why];
        if (by_reason[why] != 0) order.push_back(why);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return by_reason[a] > by_reason[b]; });
    std::string text =
        std::to_string(by_reason[0]) + " taken, " + std::to_string(others) + " handed over";
    const char* between = ": ";
    for (const std::size_t why : order) {
        text.append(between)
            .append(std::to_string(by_reason[why]))
            .append(" ")
            .append(reasons[why]);
        between = ", ";
    }
    return text;
}

}  // namespace

stats& statistics() noexcept {
    static stats all;
    return all;
}

void stats::add(function function, form form, reason reason) noexcept {
    counts[static_cast<std::size_t>(function)][static_cast<std::size_t>(form)]
          [static_cast<std::size_t>(reason)]
              .fetch_add(1, std::memory_order_relaxed);
}

void stats::count_group(groups origin) noexcept {
    groups_of[static_cast<std::size_t>(origin)].fetch_add(1, std::memory_order_relaxed);
}

void stats::print() noexcept try {
    constexpr std::size_t calls = function_count * form_count * reason_count;
    constexpr std::size_t wanted = calls + groups_count, all = wanted + 1;
    // Every rank contributes its option, so that no rank waits for one that does not print.
    std::vector<long> own(all), sum(all);
    for (std::size_t i = 0; i < groups_count; ++i)
        own[calls + i] = groups_of[i].load(std::memory_order_relaxed);
    own[wanted] = enabled_ ? 1 : 0;
    std::size_t i = 0;
    for (const auto& function : counts)
        for (const auto& form : function)
            for (const auto& reason : form)
                own[i++] = reason.load(std::memory_order_relaxed);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(own.data(), sum.data(), static_cast<int>(all), MPI_LONG, MPI_SUM, 0,
                MPI_COMM_WORLD);
    if (rank != 0 || sum[wanted] == 0) return;
    std::string text = "# ucg_mpi: calls of all ranks\n# ucg_mpi: groups of communicators: " +
                       std::to_string(sum[calls]) + " made, " + std::to_string(sum[calls + 1]) +
                       " used again, " + std::to_string(sum[calls + 2]) + " could not be made\n";
    for (std::size_t each = 0; each < function_count * form_count; ++each) {
        const long* const row = &sum[each * reason_count];
        if (std::all_of(row, row + reason_count, [](long count) { return count == 0; })) continue;
        text += "# ucg_mpi: " + name_of(each / form_count, each % form_count) + ": " +
                text_of(row) + "\n";
    }
    std::fputs(text.c_str(), stderr);
} catch (...) {
    std::fputs("# ucg_mpi: no memory to print the statistics\n", stderr);
}

}  // namespace ucg::mpi
