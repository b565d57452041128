// Waits, tests and starts: while something of ours is under way they move both sides on, and they
// know persistent requests of ours.
#include <algorithm>

#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/persistent.hpp"

using namespace ucg::mpi;

namespace {

// Whether MPI's own function may be called with the program's arguments. A persistent request of
// ours that does not run is to MPI one of its own, and does not run either.
bool is_mpi_alone() noexcept {
    return !library().active || (!moving().needed() && persistent_requests().none_active());
}

// Runs `all` on stand-ins; after a look at ucg if it is needed.
template<class Call>
int with_stand_ins(int count, MPI_Request* requests, const Call& call) noexcept {
    try {
        stand_ins these(count, requests);
        return call(these.data());
    } catch (const std::bad_alloc&) {
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
}

// One after the other: MPICH 4.0's MPI_Testall fails for persistent collectives of its own.
int wait_for_each(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
    int worst = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        MPI_Status* const status =
            statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        const int ended = until([&](int* flag) { return PMPI_Test(&requests[i], flag, status); });
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = ended;
        if (ended != MPI_SUCCESS) worst = MPI_ERR_IN_STATUS;
    }
    return worst;
}

}  // namespace

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (is_mpi_alone() || request == nullptr) return PMPI_Wait(request, status);
    return with_stand_ins(1, request, [&](MPI_Request* of) {
        return until([&](int* flag) { return PMPI_Test(of, flag, status); });
    });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (is_mpi_alone()) return PMPI_Waitall(count, requests, statuses);
    return with_stand_ins(count, requests,
                          [&](MPI_Request* of) { return wait_for_each(count, of, statuses); });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Waitany(count, requests, index, status);
    return with_stand_ins(count, requests, [&](MPI_Request* of) {
        return until([&](int* flag) { return PMPI_Testany(count, of, index, flag, status); });
    });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
    if (is_mpi_alone()) return PMPI_Waitsome(count, requests, done, indices, statuses);
    return with_stand_ins(count, requests, [&](MPI_Request* of) {
        return until([&](int* flag) {
            const int status = PMPI_Testsome(count, of, done, indices, statuses);
            *flag = *done != 0;  // MPI_UNDEFINED as well: there is nothing to wait for
            return status;
        });
    });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (is_mpi_alone() || request == nullptr) return PMPI_Test(request, flag, status);
    static_cast<void>(moving().advance());
    return with_stand_ins(1, request, [&](MPI_Request* of) { return PMPI_Test(of, flag, status); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (is_mpi_alone()) return PMPI_Testall(count, requests, flag, statuses);
    static_cast<void>(moving().advance());
    return with_stand_ins(count, requests,
                          [&](MPI_Request* of) { return PMPI_Testall(count, of, flag, statuses); });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Testany(count, requests, index, flag, status);
    static_cast<void>(moving().advance());
    return with_stand_ins(count, requests, [&](MPI_Request* of) {
        return PMPI_Testany(count, of, index, flag, status);
    });
}

int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
    if (is_mpi_alone()) return PMPI_Testsome(count, requests, done, indices, statuses);
    static_cast<void>(moving().advance());
    return with_stand_ins(count, requests, [&](MPI_Request* of) {
        return PMPI_Testsome(count, of, done, indices, statuses);
    });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    if (is_mpi_alone()) return PMPI_Request_get_status(request, flag, status);
    static_cast<void>(moving().advance());
    return with_stand_ins(
        1, &request, [&](MPI_Request* of) { return PMPI_Request_get_status(*of, flag, status); });
}

int MPI_Request_free(MPI_Request* request) {
    if (request == nullptr || persistent_requests().find(*request) == nullptr)
        return PMPI_Request_free(request);
    return persistent_requests().remove(request);
}

int MPI_Start(MPI_Request* request) {
    persistent* const ours = request != nullptr ? persistent_requests().find(*request) : nullptr;
    if (ours == nullptr) return PMPI_Start(request);
    return with_stand_ins(0, nullptr, [&](MPI_Request*) { return ours->begin(); });
}

// Ours are started in the order in which they were made, which is the same on all ranks.
int MPI_Startall(int count, MPI_Request* requests) {
    if (persistent_requests().none() || count <= 0 || requests == nullptr)
        return PMPI_Startall(count, requests);
    return with_stand_ins(0, nullptr, [&](MPI_Request*) {
        std::vector<persistent*> ours;
        for (int i = 0; i < count; ++i) {
            if (persistent* const found = persistent_requests().find(requests[i])) {
                ours.push_back(found);
            } else if (const int status = PMPI_Start(&requests[i]); status != MPI_SUCCESS) {
                return status;
            }
        }
        std::ranges::sort(ours, {}, &persistent::number);
        for (persistent* const each : ours)
            if (const int status = each->begin(); status != MPI_SUCCESS) return status;
        return MPI_SUCCESS;
    });
}
