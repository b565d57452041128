// The options of libucg_mpi, read from the environment.
#pragma once

namespace ucg::mpi {

// libucg lists these options among its own (ucg/core/config.hpp), so that they are documented and
// known there, but only libucg_mpi uses their values.
struct settings {
    bool take = true;    // UCG_MPI: ucg executes collectives
    bool eager = false;  // UCG_MPI_EAGER: a communicator gets its group when it is created
    bool stats = false;  // UCG_MPI_STATS: rank 0 prints statistics at the end

    // Reads the options. If a value is invalid, prints one line about it and sets `take` to false,
    // so that the MPI library executes all collectives.
    static settings read() noexcept;
};

}  // namespace ucg::mpi
