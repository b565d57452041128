// How many calls were taken, and why others were not; printed at the end with UCG_MPI_STATS=y.
#pragma once

#include <cstdint>

namespace ucg::mpi {

// The functions that we serve, in all their forms.
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

// Why a call goes to the MPI. Each is the same on all ranks of the communicator.
enum class reason : std::uint8_t {
    none,  // it does not
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

// How a communicator came to a group, or not.
enum class groups : std::uint8_t { made, used_again, refused };
inline constexpr std::size_t groups_count = 3;

class stats {
public:
    void enable() noexcept { enabled_ = true; }
    void count(function what, form how, reason why) noexcept {
        if (enabled_) add(what, how, why);
    }
    // One rank of the communicator counts.
    void count_group(groups which) noexcept;
    // Collective over MPI_COMM_WORLD: adds all ranks up, and rank 0 prints.
    void print() noexcept;

private:
    void add(function what, form how, reason why) noexcept;
    bool enabled_ = false;
};

stats& statistics() noexcept;

}  // namespace ucg::mpi
