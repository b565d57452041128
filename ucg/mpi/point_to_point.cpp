// Blocking messages: while something of ours is under way, the non-blocking form and a loop, since
// a rank that waits here may be the one that others' collectives wait for.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/progress.hpp"
#include "ucg/mpi/types.hpp"

using namespace ucg::mpi;

namespace {

bool is_mpi_alone() noexcept {
    return !library().active || !moving().needed();
}

int finish(MPI_Request request, MPI_Status* status) {
    return until([&](int* flag) { return PMPI_Test(&request, flag, status); });
}

// Of a send and a receive; an error of one is not hidden by the other.
int finish_both(MPI_Request out, MPI_Request in, MPI_Status* status) {
    const int received = finish(in, status);
    const int sent = finish(out, MPI_STATUS_IGNORE);
    return received != MPI_SUCCESS ? received : sent;
}

template<class Begin>
int send_with(const Begin& begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int status = begin(&request);
    return status == MPI_SUCCESS ? finish(request, MPI_STATUS_IGNORE) : status;
}

}  // namespace

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (is_mpi_alone()) return PMPI_Send(data, count, type, to, tag, comm);
    return send_with([&](MPI_Request* request) {
        return PMPI_Isend(data, count, type, to, tag, comm, request);
    });
}

int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (is_mpi_alone()) return PMPI_Ssend(data, count, type, to, tag, comm);
    return send_with([&](MPI_Request* request) {
        return PMPI_Issend(data, count, type, to, tag, comm, request);
    });
}

int MPI_Rsend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    if (is_mpi_alone()) return PMPI_Rsend(data, count, type, to, tag, comm);
    return send_with([&](MPI_Request* request) {
        return PMPI_Irsend(data, count, type, to, tag, comm, request);
    });
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Recv(data, count, type, from, tag, comm, status);
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun = PMPI_Irecv(data, count, type, from, tag, comm, &request);
    return begun == MPI_SUCCESS ? finish(request, status) : begun;
}

int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Mrecv(data, count, type, message, status);
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun = PMPI_Imrecv(data, count, type, message, &request);
    return begun == MPI_SUCCESS ? finish(request, status) : begun;
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Probe(from, tag, comm, status);
    return until([&](int* flag) { return PMPI_Iprobe(from, tag, comm, flag, status); });
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Mprobe(from, tag, comm, message, status);
    return until([&](int* flag) { return PMPI_Improbe(from, tag, comm, flag, message, status); });
}

// Programs loop over these, and MPI's progress is all that they can count on.
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (!is_mpi_alone()) static_cast<void>(moving().advance());
    return PMPI_Iprobe(from, tag, comm, flag, status);
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    if (!is_mpi_alone()) static_cast<void>(moving().advance());
    return PMPI_Improbe(from, tag, comm, flag, message, status);
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void* in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
    if (is_mpi_alone())
        return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                             in_tag, comm, status);
    MPI_Request sends = MPI_REQUEST_NULL, receives = MPI_REQUEST_NULL;
    int begun = PMPI_Irecv(in, in_count, in_type, from, in_tag, comm, &receives);
    if (begun != MPI_SUCCESS) return begun;
    begun = PMPI_Isend(out, out_count, out_type, to, out_tag, comm, &sends);
    if (begun != MPI_SUCCESS) {
        PMPI_Cancel(&receives);
        PMPI_Request_free(&receives);
        return begun;
    }
    return finish_both(sends, receives, status);
}

int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int out_tag, int from,
                         int in_tag, MPI_Comm comm, MPI_Status* status) {
    // A copy of what is short and lies together is sent; for the rest MPI knows better, and another
    // thread moves ucg.
    constexpr std::uint64_t most = 1 << 20;
    const auto mpis = [&] {
        return PMPI_Sendrecv_replace(data, count, type, to, out_tag, from, in_tag, comm, status);
    };
    if (is_mpi_alone()) return mpis();
    const layout where = count > 0 && type != MPI_DATATYPE_NULL ? layout_of(type) : layout{};
    const std::uint64_t bytes = static_cast<std::uint64_t>(std::max(count, 0)) * where.size;
    if (!where.dense || bytes == 0 || bytes > most) return away(mpis);
    std::vector<std::byte> copy;
    try {
        copy.resize(static_cast<std::size_t>(bytes));
    } catch (...) {
        return away(mpis);
    }
    std::memcpy(copy.data(), data, copy.size());
    return MPI_Sendrecv(copy.data(), count, type, to, out_tag, data, count, type, from, in_tag,
                        comm, status);
}
