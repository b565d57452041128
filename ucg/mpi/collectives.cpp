// MPI's collectives that ucg serves: the blocking, non-blocking and persistent forms. The
// persistent forms have the names of this MPI.
#include "ucg/mpi/collectives.hpp"

using namespace ucg::mpi;

UCG_MPI_TAKE(, Barrier, Ibarrier, barrier, ())
UCG_MPI_TAKE_ALL(, int, int)

// The forms with large counts, if the MPI has them. Ranks may mix both in one call.
#if MPI_VERSION >= 4
UCG_MPI_TAKE_ALL(_c, MPI_Count, MPI_Aint)
#endif
