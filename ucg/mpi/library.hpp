// The state of the library in a process, between MPI_Init and MPI_Finalize.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <cstdint>

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

// Set up in MPI_Init and destroyed in MPI_Finalize; all threads read it between the two.
struct library_state {
    // True if ucg serves collectives: the same on all ranks of MPI_COMM_WORLD.
    bool active = false;
    // MPI_THREAD_MULTIPLE: several threads may be in MPI at once.
    bool multiple = false;
    // True if a communicator gets its group when it is created; false: at the first blocking or
    // persistent collective that ucg would serve.
    bool eager = false;
    // True if end() is called when MPI_Finalize deletes the attributes of MPI_COMM_SELF.
    bool ends_with_self = false;
    ucg_context_h context = nullptr;
    MPI_Comm self_comm = MPI_COMM_NULL;            // a duplicate of MPI_COMM_SELF for this library
    MPI_Request dummy_receive = MPI_REQUEST_NULL;  // a receive that never completes: testing it
                                                   // progresses MPI
    MPI_Group world = MPI_GROUP_NULL;
    int group_key = MPI_KEYVAL_INVALID;
};

library_state& library() noexcept;

// Initialises the library, collectively over MPI_COMM_WORLD, after MPI's own initialisation.
void begin(int thread_level) noexcept;
// Finalises the library, before MPI's own finalisation. By MPI's rules MPI_Finalize first deletes
// the attributes of MPI_COMM_SELF, in the reverse order of their setting, and programs may still
// communicate in their delete callbacks. begin() sets an attribute before the program can, so end()
// runs after these callbacks.
void end() noexcept;

}  // namespace ucg::mpi
