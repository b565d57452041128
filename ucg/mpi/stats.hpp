// Statistics: how many calls ucg served, and why it did not serve others; printed at the end with
// UCG_MPI_STATS=y.
#pragma once

#include <cstdint>

namespace ucg::mpi {

// The functions that ucg serves, in all their forms.
enum class function : std::uint8_t {
    barrier,
    bcast,
    reduce,
    allreduce,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    reduce_scatter,
    reduce_scatter_block
};
inline constexpr std::size_t function_count = 10;

enum class form : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::size_t form_count = 3;

// The reason why the MPI serves a call. It is the same on all ranks of the communicator.
enum class reason : std::uint8_t {
    none,  // ucg serves the call
    inactive,
    alone,
    intercommunicator,
    several_worlds,
    no_group,
    not_yet,
    datatype,
    operation,
    arguments
};
inline constexpr std::size_t reason_count = 10;

// How a communicator got a group.
enum class groups : std::uint8_t { made, used_again, refused };
inline constexpr std::size_t groups_count = 3;

class stats {
public:
    void enable() noexcept { enabled_ = true; }
    void count(function function, form form, reason reason) noexcept {
        if (enabled_) add(function, form, reason);
    }
    // Called by one rank of the communicator.
    void count_group(groups origin) noexcept;
    // Adds up the counts of all ranks, and prints them on rank 0. Collective over MPI_COMM_WORLD.
    void print() noexcept;

private:
    void add(function function, form form, reason reason) noexcept;
    bool enabled_ = false;
};

stats& statistics() noexcept;

}  // namespace ucg::mpi
