// Waits, tests and starts of requests: while a ucg operation is active they progress both MPI and
// ucg, and they handle ucg's persistent requests.
#include <algorithm>

#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/persistent.hpp"

using namespace ucg::mpi;

namespace {

// True if MPI's own function may be called with the program's arguments. MPI treats an inactive
// persistent request of ucg as its own inactive request.
bool is_pass_through() noexcept {
    return !library().active ||
           (!progress_engine().is_needed() && persistent_requests().none_active());
}

// Runs `call` on the requests that substitute ucg's persistent requests.
template<class Call>
int with_substitutes(int count, MPI_Request* requests, const Call& call) noexcept {
    try {
        substituted_requests substituted(count, requests);
        return call(substituted.data());
    } catch (const std::bad_alloc&) {
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
}

// Waits for one request after the other, because MPICH 4.0's MPI_Testall fails for MPICH's
// persistent collectives.
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
    if (is_pass_through() || request == nullptr) return PMPI_Wait(request, status);
    return with_substitutes(1, request, [&](MPI_Request* substitutes) {
        return until([&](int* flag) { return PMPI_Test(substitutes, flag, status); });
    });
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (is_pass_through()) return PMPI_Waitall(count, requests, statuses);
    return with_substitutes(count, requests, [&](MPI_Request* substitutes) {
        return wait_for_each(count, substitutes, statuses);
    });
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (is_pass_through()) return PMPI_Waitany(count, requests, index, status);
    return with_substitutes(count, requests, [&](MPI_Request* substitutes) {
        return until(
            [&](int* flag) { return PMPI_Testany(count, substitutes, index, flag, status); });
    });
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
    if (is_pass_through()) return PMPI_Waitsome(count, requests, done, indices, statuses);
    return with_substitutes(count, requests, [&](MPI_Request* substitutes) {
        return until([&](int* flag) {
            const int status = PMPI_Testsome(count, substitutes, done, indices, statuses);
            *flag = *done != 0;  // true for MPI_UNDEFINED as well: there is no active request
            return status;
        });
    });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (is_pass_through() || request == nullptr) return PMPI_Test(request, flag, status);
    static_cast<void>(progress_engine().advance());
    return with_substitutes(
        1, request, [&](MPI_Request* substitutes) { return PMPI_Test(substitutes, flag, status); });
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (is_pass_through()) return PMPI_Testall(count, requests, flag, statuses);
    static_cast<void>(progress_engine().advance());
    return with_substitutes(count, requests, [&](MPI_Request* substitutes) {
        return PMPI_Testall(count, substitutes, flag, statuses);
    });
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    if (is_pass_through()) return PMPI_Testany(count, requests, index, flag, status);
    static_cast<void>(progress_engine().advance());
    return with_substitutes(count, requests, [&](MPI_Request* substitutes) {
        return PMPI_Testany(count, substitutes, index, flag, status);
    });
}

int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
    if (is_pass_through()) return PMPI_Testsome(count, requests, done, indices, statuses);
    static_cast<void>(progress_engine().advance());
    return with_substitutes(count, requests, [&](MPI_Request* substitutes) {
        return PMPI_Testsome(count, substitutes, done, indices, statuses);
    });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    if (is_pass_through()) return PMPI_Request_get_status(request, flag, status);
    static_cast<void>(progress_engine().advance());
    return with_substitutes(1, &request, [&](MPI_Request* substitutes) {
        return PMPI_Request_get_status(*substitutes, flag, status);
    });
}

int MPI_Request_free(MPI_Request* request) {
    if (request == nullptr || persistent_requests().find(*request) == nullptr)
        return PMPI_Request_free(request);
    return persistent_requests().remove(request);
}

int MPI_Start(MPI_Request* request) {
    persistent* const found = request != nullptr ? persistent_requests().find(*request) : nullptr;
    if (found == nullptr) return PMPI_Start(request);
    return with_substitutes(0, nullptr, [&](MPI_Request*) { return found->begin(); });
}

// Starts ucg's requests in the order of their creation, which is the same on all ranks.
int MPI_Startall(int count, MPI_Request* requests) {
    if (persistent_requests().none() || count <= 0 || requests == nullptr)
        return PMPI_Startall(count, requests);
    return with_substitutes(0, nullptr, [&](MPI_Request*) {
        std::vector<persistent*> persistents;
        for (int i = 0; i < count; ++i) {
            if (persistent* const found = persistent_requests().find(requests[i])) {
                persistents.push_back(found);
            } else if (const int status = PMPI_Start(&requests[i]); status != MPI_SUCCESS) {
                return status;
            }
        }
        std::ranges::sort(persistents, {}, &persistent::number);
        for (persistent* const each : persistents)
            if (const int status = each->begin(); status != MPI_SUCCESS) return status;
        return MPI_SUCCESS;
    });
}
