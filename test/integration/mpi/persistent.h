/* PERSISTENT(Allreduce) is the name of the persistent collective in this MPI. Open MPI 4 has an
 * extension instead. Include after mpi.h. */
#ifndef HAWSER_TEST_MPI_PERSISTENT_H
#define HAWSER_TEST_MPI_PERSISTENT_H

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

#endif
