// What the environment says about libucg_mpi.
#pragma once

namespace ucg::mpi {

// The names are options of libucg, which knows them and does not read them (ucg/core/config.hpp).
struct settings {
    bool take = true;    // UCG_MPI: whether anything is taken
    bool eager = false;  // UCG_MPI_EAGER: a communicator gets its group when it is made
    bool stats = false;  // UCG_MPI_STATS: rank 0 prints at the end

    // A value that says neither yes nor no is named on a line, and nothing is taken: nobody knows
    // what was meant.
    static settings read() noexcept;
};

}  // namespace ucg::mpi
