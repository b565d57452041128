// What there is once in a process: between MPI_Init and MPI_Finalize.
#pragma once

#include <mpi.h>
#include <ucg/api/ucg.h>

#include <atomic>
#include <cstdint>

namespace ucg::mpi {

// Set up in MPI_Init and taken down in MPI_Finalize; read by all threads between the two.
struct library_state {
    // Whether collectives are taken at all: the same on all ranks of MPI_COMM_WORLD.
    bool active = false;
    // MPI_THREAD_MULTIPLE: several threads may be in MPI at once.
    bool multiple = false;
    // Whether a communicator gets its group when it is made, or at the first blocking or persistent
    // collective that ucg would serve.
    bool eager = false;
    // Whether end() is called by MPI_Finalize's deletion of MPI_COMM_SELF's attributes.
    bool ends_with_self = false;
    ucg_context_h context = nullptr;
    MPI_Comm alone = MPI_COMM_NULL;        // this process, for us
    MPI_Request never = MPI_REQUEST_NULL;  // a receive from itself: looking at it moves MPI on
    MPI_Group world = MPI_GROUP_NULL;
    int group_key = MPI_KEYVAL_INVALID;
};

library_state& library() noexcept;

// Brings it up, collectively over MPI_COMM_WORLD, after MPI's own initialization.
void begin(int thread_level) noexcept;
// Takes it down, before MPI's own end. By MPI's rules MPI_Finalize first deletes the attributes of
// MPI_COMM_SELF, in the reverse order of their setting, and programs may still communicate in their
// delete callbacks. begin() sets one before the program can, so end() comes after these callbacks.
void end() noexcept;

}  // namespace ucg::mpi
