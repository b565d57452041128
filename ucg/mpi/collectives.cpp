// MPI's collectives that ucg serves: blocking, non-blocking and persistent, the latter under the
// names that this MPI has for them.
#include "ucg/mpi/collectives.hpp"

using namespace ucg::mpi;

UCG_MPI_TAKE(, Barrier, Ibarrier, barrier, ())
UCG_MPI_TAKE_ALL(, int, int)

// The same with large counts, where the MPI has them: ranks may mix both in one call.
#if MPI_VERSION >= 4
UCG_MPI_TAKE_ALL(_c, MPI_Count, MPI_Aint)
#endif
