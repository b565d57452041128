// Other calls of MPI's in which a rank may wait for others: collectives that it keeps, windows,
// files, processes. They cannot be taken apart, so another thread moves ucg on meanwhile if that is
// needed. Written by contrib/make-mpi-calls.
#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/progress.hpp"

using namespace ucg::mpi;

int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    });
}

int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
    return away([&] {
        return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm);
    });
}

int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    });
}

int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                             root, comm);
    });
}

int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm) {
    return away([&] { return PMPI_Scan(sendbuf, recvbuf, count, datatype, op, comm); });
}

int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) {
    return away([&] { return PMPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm); });
}

int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return away([&] {
        return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                              recvtypes, comm);
    });
}

int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       comm);
    });
}

int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                        recvtype, comm);
    });
}

int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm);
    });
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                       rdispls, recvtype, comm);
    });
}

int MPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                           MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                       rdispls, recvtypes, comm);
    });
}

int MPI_Buffer_detach(void* buffer_addr, int* size) {
    return away([&] { return PMPI_Buffer_detach(buffer_addr, size); });
}

int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
    return away([&] {
        return PMPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
                               array_of_errcodes);
    });
}

int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
    return away([&] {
        return PMPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
                                        array_of_info, root, comm, intercomm, array_of_errcodes);
    });
}

int MPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm* newcomm) {
    return away([&] { return PMPI_Comm_accept(port_name, info, root, comm, newcomm); });
}

int MPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm* newcomm) {
    return away([&] { return PMPI_Comm_connect(port_name, info, root, comm, newcomm); });
}

int MPI_Comm_join(int fd, MPI_Comm* intercomm) {
    return away([&] { return PMPI_Comm_join(fd, intercomm); });
}

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    return away([&] { return PMPI_Comm_set_info(comm, info); });
}

int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win* win) {
    return away([&] { return PMPI_Win_create(base, size, disp_unit, info, comm, win); });
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                     MPI_Win* win) {
    return away([&] { return PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                            void* baseptr, MPI_Win* win) {
    return away(
        [&] { return PMPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win); });
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return away([&] { return PMPI_Win_create_dynamic(info, comm, win); });
}

int MPI_Win_free(MPI_Win* win) {
    return away([&] { return PMPI_Win_free(win); });
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
    return away([&] { return PMPI_Win_set_info(win, info); });
}

int MPI_Win_fence(int assert, MPI_Win win) {
    return away([&] { return PMPI_Win_fence(assert, win); });
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    return away([&] { return PMPI_Win_start(group, assert, win); });
}

int MPI_Win_complete(MPI_Win win) {
    return away([&] { return PMPI_Win_complete(win); });
}

int MPI_Win_wait(MPI_Win win) {
    return away([&] { return PMPI_Win_wait(win); });
}

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    return away([&] { return PMPI_Win_lock(lock_type, rank, assert, win); });
}

int MPI_Win_unlock(int rank, MPI_Win win) {
    return away([&] { return PMPI_Win_unlock(rank, win); });
}

int MPI_Win_lock_all(int assert, MPI_Win win) {
    return away([&] { return PMPI_Win_lock_all(assert, win); });
}

int MPI_Win_unlock_all(MPI_Win win) {
    return away([&] { return PMPI_Win_unlock_all(win); });
}

int MPI_Win_flush(int rank, MPI_Win win) {
    return away([&] { return PMPI_Win_flush(rank, win); });
}

int MPI_Win_flush_all(MPI_Win win) {
    return away([&] { return PMPI_Win_flush_all(win); });
}

int MPI_Win_flush_local(int rank, MPI_Win win) {
    return away([&] { return PMPI_Win_flush_local(rank, win); });
}

int MPI_Win_flush_local_all(MPI_Win win) {
    return away([&] { return PMPI_Win_flush_local_all(win); });
}

int MPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
    return away([&] { return PMPI_File_open(comm, filename, amode, info, fh); });
}

int MPI_File_close(MPI_File* fh) {
    return away([&] { return PMPI_File_close(fh); });
}

int MPI_File_set_size(MPI_File fh, MPI_Offset size) {
    return away([&] { return PMPI_File_set_size(fh, size); });
}

int MPI_File_preallocate(MPI_File fh, MPI_Offset size) {
    return away([&] { return PMPI_File_preallocate(fh, size); });
}

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* datarep, MPI_Info info) {
    return away([&] { return PMPI_File_set_view(fh, disp, etype, filetype, datarep, info); });
}

int MPI_File_set_info(MPI_File fh, MPI_Info info) {
    return away([&] { return PMPI_File_set_info(fh, info); });
}

int MPI_File_set_atomicity(MPI_File fh, int flag) {
    return away([&] { return PMPI_File_set_atomicity(fh, flag); });
}

int MPI_File_sync(MPI_File fh) {
    return away([&] { return PMPI_File_sync(fh); });
}

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
    return away([&] { return PMPI_File_seek_shared(fh, offset, whence); });
}

int MPI_File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                      MPI_Status* status) {
    return away([&] { return PMPI_File_read_all(fh, buf, count, datatype, status); });
}

int MPI_File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
    return away([&] { return PMPI_File_read_all_begin(fh, buf, count, datatype); });
}

int MPI_File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
    return away([&] { return PMPI_File_read_all_end(fh, buf, status); });
}

int MPI_File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                       MPI_Status* status) {
    return away([&] { return PMPI_File_write_all(fh, buf, count, datatype, status); });
}

int MPI_File_write_all_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
    return away([&] { return PMPI_File_write_all_begin(fh, buf, count, datatype); });
}

int MPI_File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
    return away([&] { return PMPI_File_write_all_end(fh, buf, status); });
}

int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                         MPI_Datatype datatype, MPI_Status* status) {
    return away([&] { return PMPI_File_read_at_all(fh, offset, buf, count, datatype, status); });
}

int MPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count,
                               MPI_Datatype datatype) {
    return away([&] { return PMPI_File_read_at_all_begin(fh, offset, buf, count, datatype); });
}

int MPI_File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
    return away([&] { return PMPI_File_read_at_all_end(fh, buf, status); });
}

int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                          MPI_Datatype datatype, MPI_Status* status) {
    return away([&] { return PMPI_File_write_at_all(fh, offset, buf, count, datatype, status); });
}

int MPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                                MPI_Datatype datatype) {
    return away([&] { return PMPI_File_write_at_all_begin(fh, offset, buf, count, datatype); });
}

int MPI_File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
    return away([&] { return PMPI_File_write_at_all_end(fh, buf, status); });
}

int MPI_File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                          MPI_Status* status) {
    return away([&] { return PMPI_File_read_ordered(fh, buf, count, datatype, status); });
}

int MPI_File_read_ordered_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
    return away([&] { return PMPI_File_read_ordered_begin(fh, buf, count, datatype); });
}

int MPI_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
    return away([&] { return PMPI_File_read_ordered_end(fh, buf, status); });
}

int MPI_File_write_ordered(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
    return away([&] { return PMPI_File_write_ordered(fh, buf, count, datatype, status); });
}

int MPI_File_write_ordered_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
    return away([&] { return PMPI_File_write_ordered_begin(fh, buf, count, datatype); });
}

int MPI_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
    return away([&] { return PMPI_File_write_ordered_end(fh, buf, status); });
}

#if UCG_MPI_HAS_CALLS_OF_4

int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Gather_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                       root, comm, info, request);
    });
}

int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Gatherv_init, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                       recvtype, root, comm, info, request);
    });
}

int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Scatter_init, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                       recvtype, root, comm, info, request);
    });
}

int MPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                      MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                      int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Scatterv_init, sendbuf, sendcounts, displs, sendtype, recvbuf,
                       recvcount, recvtype, root, comm, info, request);
    });
}

int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Scan_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
    });
}

int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Exscan_init, sendbuf, recvbuf, count, datatype, op, comm, info,
                       request);
    });
}

int MPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                       const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Alltoallw_init, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                       recvcounts, rdispls, recvtypes, comm, info, request);
    });
}

int MPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Neighbor_allgather_init, sendbuf, sendcount, sendtype, recvbuf,
                       recvcount, recvtype, comm, info, request);
    });
}

int MPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const int displs[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Neighbor_allgatherv_init, sendbuf, sendcount, sendtype, recvbuf,
                       recvcounts, displs, recvtype, comm, info, request);
    });
}

int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Neighbor_alltoall_init, sendbuf, sendcount, sendtype, recvbuf,
                       recvcount, recvtype, comm, info, request);
    });
}

int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Neighbor_alltoallv_init, sendbuf, sendcounts, sdispls, sendtype,
                       recvbuf, recvcounts, rdispls, recvtype, comm, info, request);
    });
}

int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
    return away([&] {
        return pass_on(PMPI_Neighbor_alltoallw_init, sendbuf, sendcounts, sdispls, sendtypes,
                       recvbuf, recvcounts, rdispls, recvtypes, comm, info, request);
    });
}

int MPI_Session_finalize(MPI_Session* session) {
    return away([&] { return pass_on(PMPI_Session_finalize, session); });
}

#endif
#if MPI_VERSION >= 4

int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                             comm);
    });
}

int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                  int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                              root, comm);
    });
}

int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              comm);
    });
}

int MPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm) {
    return away([&] {
        return PMPI_Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                               root, comm);
    });
}

int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
               MPI_Op op, MPI_Comm comm) {
    return away([&] { return PMPI_Scan_c(sendbuf, recvbuf, count, datatype, op, comm); });
}

int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm) {
    return away([&] { return PMPI_Exscan_c(sendbuf, recvbuf, count, datatype, op, comm); });
}

int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return away([&] {
        return PMPI_Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm);
    });
}

int MPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         comm);
    });
}

int MPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm);
    });
}

int MPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                        comm);
    });
}

int MPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, comm);
    });
}

int MPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm) {
    return away([&] {
        return PMPI_Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, comm);
    });
}

int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                  comm, info, request);
    });
}

int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request) {
    return away([&] {
        return PMPI_Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, root, comm, info, request);
    });
}

int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                   comm, info, request);
    });
}

int MPI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request) {
    return away([&] {
        return PMPI_Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                    recvtype, root, comm, info, request);
    });
}

int MPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
    });
}

int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
    });
}

int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
    return away([&] {
        return PMPI_Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                     rdispls, recvtypes, comm, info, request);
    });
}

int MPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                              recvtype, comm, info, request);
    });
}

int MPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                               displs, recvtype, comm, info, request);
    });
}

int MPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                             recvtype, comm, info, request);
    });
}

int MPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
    return away([&] {
        return PMPI_Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                              recvcounts, rdispls, recvtype, comm, info, request);
    });
}

int MPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                  void* recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    return away([&] {
        return PMPI_Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                              recvcounts, rdispls, recvtypes, comm, info, request);
    });
}

int MPI_Buffer_detach_c(void* buffer_addr, MPI_Count* size) {
    return away([&] { return PMPI_Buffer_detach_c(buffer_addr, size); });
}

int MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                     MPI_Win* win) {
    return away([&] { return PMPI_Win_create_c(base, size, disp_unit, info, comm, win); });
}

int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                       void* baseptr, MPI_Win* win) {
    return away([&] { return PMPI_Win_allocate_c(size, disp_unit, info, comm, baseptr, win); });
}

int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                              void* baseptr, MPI_Win* win) {
    return away(
        [&] { return PMPI_Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win); });
}

int MPI_File_read_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status* status) {
    return away([&] { return PMPI_File_read_all_c(fh, buf, count, datatype, status); });
}

int MPI_File_read_all_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
    return away([&] { return PMPI_File_read_all_begin_c(fh, buf, count, datatype); });
}

int MPI_File_write_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status* status) {
    return away([&] { return PMPI_File_write_all_c(fh, buf, count, datatype, status); });
}

int MPI_File_write_all_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                               MPI_Datatype datatype) {
    return away([&] { return PMPI_File_write_all_begin_c(fh, buf, count, datatype); });
}

int MPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status* status) {
    return away([&] { return PMPI_File_read_at_all_c(fh, offset, buf, count, datatype, status); });
}

int MPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                                 MPI_Datatype datatype) {
    return away([&] { return PMPI_File_read_at_all_begin_c(fh, offset, buf, count, datatype); });
}

int MPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status* status) {
    return away([&] { return PMPI_File_write_at_all_c(fh, offset, buf, count, datatype, status); });
}

int MPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                                  MPI_Datatype datatype) {
    return away([&] { return PMPI_File_write_at_all_begin_c(fh, offset, buf, count, datatype); });
}

int MPI_File_read_ordered_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
    return away([&] { return PMPI_File_read_ordered_c(fh, buf, count, datatype, status); });
}

int MPI_File_read_ordered_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
    return away([&] { return PMPI_File_read_ordered_begin_c(fh, buf, count, datatype); });
}

int MPI_File_write_ordered_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status* status) {
    return away([&] { return PMPI_File_write_ordered_c(fh, buf, count, datatype, status); });
}

int MPI_File_write_ordered_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                                   MPI_Datatype datatype) {
    return away([&] { return PMPI_File_write_ordered_begin_c(fh, buf, count, datatype); });
}

#endif
