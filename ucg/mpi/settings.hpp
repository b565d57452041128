// The options of libucg_mpi, read from the environment.
#pragma once

namespace ucg::mpi {

// The names are options of libucg, which lists them and does not read them (ucg/core/config.hpp).
struct settings {
    bool take = true;    // UCG_MPI: ucg serves collectives
    bool eager = false;  // UCG_MPI_EAGER: a communicator gets its group when it is created
    bool stats = false;  // UCG_MPI_STATS: rank 0 prints statistics at the end

    // An invalid value is reported in one line, and then the MPI does all collectives.
    static settings read() noexcept;
};

}  // namespace ucg::mpi
