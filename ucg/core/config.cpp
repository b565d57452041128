#include "ucg/core/config.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "ucs/random/random_bytes.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/sys/process.hpp"

namespace ucg {
namespace {

using ucs::config::make_option;
using ucs::config::option;

constexpr const char* algorithm_names[schedule::collective_count] = {
    "BARRIER",  "BCAST",     "REDUCE",    "ALLREDUCE",  "GATHER",         "GATHERV",
    "SCATTER",  "SCATTERV",  "ALLGATHER", "ALLGATHERV", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK",
    "ALLTOALL", "ALLTOALLV", "SCAN",      "EXSCAN"};

// The option of one collective: a copy of the first option with another name and another member.
template<std::size_t Which>
option algorithm_option() {
    static constexpr const char* help =
        "Which algorithm serves this collective: rules, separated by commas, of which the first "
        "that fits counts; where none does, the cheapest one is taken. A rule is a name, or "
        "SIZES:NAME, or SIZES@RANKS:NAME, such as 4k-1m@8-inf:ring. Sizes are in bytes, and both "
        "ends of a range belong to it. ucg_sim -l lists the names; shared_memory is the node's "
        "engine.";
    option made = make_option<&config::node_id>(algorithm_names[Which], "", help);
    made.field = [](void* settings) -> void* {
        return &static_cast<config*>(settings)->algorithms[Which];
    };
    return made;
}

template<std::size_t... Each>
void add_algorithm_options(std::vector<option>& to, std::index_sequence<Each...>) {
    (to.push_back(algorithm_option<Each>()), ...);
}

}  // namespace

const ucs::config::table& config::options() {
    static const ucs::config::table made = [] {
        ucs::config::table all{
            "Collectives",
            {make_option<&config::node_id>(
                 "NODE_ID", "",
                 "Name of the node that this process is on: processes that give the same name, on "
                 "one host, share a node. Without a name, those share one that have the host, the "
                 "network namespace and the process namespace in common."),
             make_option<&config::node_engine>(
                 "NODE_ENGINE", "y",
                 "Whether processes of a node do collectives over memory that they share. If not, "
                 "each counts as a node of its own, and all goes over messages."),
             make_option<&config::slot_size>(
                 "NODE_SLOT_SIZE", "32k",
                 "Bytes of a slot of the node's shared memory; a multiple of 4k. The same in all "
                 "processes of a group.",
                 ucs::config::between("4k", "64m")),
             make_option<&config::slots>(
                 "NODE_SLOTS", "64",
                 "Slots of each process in the node's shared memory; best a "
                 "multiple of 4. Where those of all processes are more than "
                 "8m, half as many, as long as 32 are left. The same in all "
                 "processes of a group.",
                 ucs::config::between("2", "1024")),
             make_option<&config::numa_id>(
                 "NUMA_ID", "auto",
                 "Name of the NUMA node that this process is on: processes of a node that give the "
                 "same name are on the same one. auto: the one that has all CPUs which the process "
                 "may run on, so bind processes. Empty: none."),
             make_option<&config::numa_level>("NUMA_LEVEL", "64k",
                                              "From so many bytes of a vector on, processes of one "
                                              "node that are on several NUMA "
                                              "nodes combine and copy it in each of these first, "
                                              "so that it crosses between them "
                                              "once and not for every process. inf: never.",
                                              ucs::config::at_least("1").or_inf()),
             make_option<&config::single_copy>(
                 "NODE_SINGLE_COPY", "inf",
                 "From so many bytes of a block on, processes of a node read each other's buffers "
                 "in "
                 "alltoall, and two processes in allgather, instead of copying through shared "
                 "memory. "
                 "Needs the right to do so (process_vm_readv), which is found out when a group is "
                 "made. inf: never.",
                 ucs::config::at_least("1").or_inf()),
             make_option<&config::segment>(
                 "SEGMENT", "128k",
                 "Bytes of the pieces that long messages are cut into, so that one is worked on "
                 "while the next one travels.",
                 ucs::config::between("64", "1g")),
             make_option<&config::leaders>(
                 "LEADERS", "0",
                 "How many processes of a node take part in what hierarchical algorithms do "
                 "between nodes, at most. 0: as many as the message is worth."),
             make_option<&config::rails>("RAILS", "1",
                                         "Ports by which a node reaches others. Hierarchical "
                                         "algorithms have a leader for each.",
                                         ucs::config::between("1", "64")),
             make_option<&config::timeout>(
                 "TIMEOUT", "inf",
                 "Time after which an operation ends with an error that names the processes that "
                 "it waits for, where the program sets no limit of its own.",
                 ucs::config::at_least("0").or_inf()),
             make_option<&config::check>(
                 "CHECK", "n",
                 "Whether all processes of a group compare their arguments before each operation, "
                 "for programs that hang or give wrong results. Names who differs; operations run "
                 "one after the other then."),
             make_option<&config::mpi>(
                 "MPI", "y",
                 "libucg_mpi: whether collectives of MPI programs are taken. In the environment "
                 "only; n in one process counts for all."),
             make_option<&config::mpi_eager>(
                 "MPI_EAGER", "n",
                 "libucg_mpi: whether a communicator gets its group when it is made. n: at the "
                 "first blocking or persistent collective that ucg would serve; non-blocking ones "
                 "before it are the MPI's."),
             make_option<&config::mpi_stats>(
                 "MPI_STATS", "n",
                 "libucg_mpi: whether rank 0 prints at the end how many calls of each function "
                 "were taken, and why others were not."),
             make_option<&config::lazy_addresses>(
                 "LAZY_ADDRESSES", "auto",
                 "Whether the address of a process is looked up when something is first sent to "
                 "it, where that by which the processes found each other can be asked "
                 "(docs/bootstrap.md), instead of all addresses being exchanged when a group is "
                 "made. "
                 "auto: in groups of 128 processes and more. The same in all processes of a "
                 "group."),
             make_option<&config::latency>(
                 "LATENCY", "auto",
                 "Time of a short message between two nodes, from which the cheapest algorithms "
                 "are found. auto: it is measured when a group is made, as is all else that these "
                 "are found from unless BANDWIDTH is given, too.",
                 ucs::config::at_least("0").or_auto()),
             make_option<&config::bandwidth>(
                 "BANDWIDTH", "auto",
                 "Bytes per second between two nodes, from which the cheapest algorithms are "
                 "found. auto: it is measured when a group is made.",
                 ucs::config::at_least("1").or_auto()),
             make_option<&config::random_job_key>(
                 "RANDOM_JOB_KEY", "n",
                 "Whether the processes of a group that were given no job key (UCX_JOB_KEY, "
                 "UCX_JOB_KEY_FILE) agree on a random one for the worker that ucg makes, where "
                 "the way by which they found each other is private: PMIx, a folder, or memory "
                 "(docs/bootstrap.md). y: a group that spans nodes and gets no key is not made. "
                 "try: it goes on without. n: no group gets one, because the worker serves all "
                 "groups of a process, and later ones may be with processes that cannot get the "
                 "key.")}};
        for (const char* const name :
             {"OOB", "OOB_DIR", "OOB_JOB", "OOB_RANK", "OOB_SIZE", "OOB_PORT", "OOB_TIMEOUT"})
            all.options.push_back(make_option<&config::bootstrap>(
                name, "", "How processes find each other: see docs/bootstrap.md.", {}, true));
        add_algorithm_options(all.options, std::make_index_sequence<schedule::collective_count>());
        return all;
    }();
    return made;
}

std::uint64_t config::common() const noexcept {
    // All NaNs get the same bit pattern.
    const auto bits = [](double value) {
        return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value);
    };
    std::uint64_t hash = 0;
    for (const std::uint64_t each :
         {std::uint64_t{slot_size.bytes}, std::uint64_t{slots}, std::uint64_t{single_copy.bytes},
          std::uint64_t{numa_level.bytes}, std::uint64_t{segment.bytes}, std::uint64_t{leaders},
          std::uint64_t{rails}, std::uint64_t{check}, static_cast<std::uint64_t>(lazy_addresses),
          bits(latency.seconds), bits(bandwidth.bytes_per_second)})
        hash = ucs::sys::mix(hash ^ each);
    for (const std::string& each : algorithms)
        hash = ucs::sys::mix(hash ^ ucs::sys::hash_text(each));
    return hash;
}

schedule::tuning config::sizes() const noexcept {
    schedule::tuning made;
    made.segment = segment.bytes;
    made.leaders = leaders;
    made.rails = rails;
    return made;
}

bool config::is_lazy(std::uint32_t ranks) const noexcept {
    // One round with all addresses is faster than several lookups one after the other.
    constexpr std::uint32_t many = 128;
    using ucs::config::ternary;
    return lazy_addresses == ternary::automatic ? ranks >= many : lazy_addresses != ternary::no;
}

ucs::result<config> config::read() {
    const auto source = ucs::config::source::of_family("UCG");
    static const ucs::config::table* const known[] = {&config::options()};
    source.warn_unknown(known);
    return ucs::config::load<config>(source);
}

}  // namespace ucg
