// What all forms of a collective have in common: who serves the call, and the counting of it.
#pragma once

#include <new>

#include "ucg/mpi/describe.hpp"
#include "ucg/mpi/operation.hpp"
#include "ucg/mpi/persistent.hpp"

namespace ucg::mpi {

// Puts the call into `call` by `describe` (a prepared and the membership -> reason). Returns what
// serves it, or nullptr and why the call is the MPI's. A group is made for a call that ucg would
// serve, and only where all ranks may wait for each other, which is never the case in a
// non-blocking call. Every question on the way there has the same answer on all ranks.
template<class Describe>
served* taker_of(MPI_Comm comm, form how, const Describe& describe, prepared& call, reason& why) {
    why = reason::inactive;
    if (!library().active || comm == MPI_COMM_NULL) return nullptr;
    served* const with = served::find_or_make(comm);
    const membership members = with != nullptr ? with->members() : membership_of(comm);
    why = with != nullptr ? with->refused() : without_group(members);
    if (why == reason::none) {
        why = describe(call, members);
        return why == reason::none ? with : nullptr;
    }
    if (why != reason::not_yet || how == form::nonblocking) return nullptr;
    // This rank takes part in the making of the group even if it has no memory for the call.
    bool described = true;
    try {
        why = describe(call, members);
        if (why != reason::none) return nullptr;
    } catch (const std::bad_alloc&) {
        described = false;
    }
    if (with != nullptr && described)
        with->join();
    else
        served::decline(comm);
    if (with != nullptr && with->refused() == reason::none) return with;
    why = reason::no_group;
    return nullptr;
}

// The communicator has a group, and its other ranks may be in the call already.
inline int fail_without_memory(MPI_Comm comm, const char* name) noexcept {
    served* const with = served::find(comm);
    return with != nullptr ? with->fail(name, UCS_ERR_NO_MEMORY) : MPI_ERR_NO_MEM;
}

// `describe` as for taker_of(). `pass`: the MPI's own function.
template<class Describe, class Pass>
int do_blocking(function what, MPI_Comm comm, const Describe& describe, const Pass& pass) noexcept {
    reason why = reason::none;
    try {
        prepared call;
        served* const with = taker_of(comm, form::blocking, describe, call, why);
        if (with != nullptr) {
            statistics().count(what, form::blocking, why);
            if (const int status = call.before(); status != MPI_SUCCESS) return status;
            kept_request* kept = nullptr;
            ucs_status_t status = with->get(call, kept);
            if (status == UCS_OK) status = ucg_request_start(kept->request);
            if (status == UCS_OK) status = with->wait(kept->request);
            if (status != UCS_OK) return with->fail(ucg_coll_name(call.args.coll), status);
            return call.after();
        }
    } catch (const std::bad_alloc&) {
        return fail_without_memory(comm, "a collective");
    }
    statistics().count(what, form::blocking, why);
    return away(pass);
}

template<class Describe, class Pass>
int do_nonblocking(function what, MPI_Comm comm, MPI_Request* request, const Describe& describe,
                   const Pass& pass) noexcept {
    reason why = reason::none;
    try {
        prepared call;
        served* const with = taker_of(comm, form::nonblocking, describe, call, why);
        if (with != nullptr) {
            statistics().count(what, form::nonblocking, why);
            auto* const made = new operation(*with, std::move(call));
            const int status = made->start(request);
            if (status != MPI_SUCCESS) delete made;
            return status;
        }
    } catch (const std::bad_alloc&) {
        return fail_without_memory(comm, "a collective");
    }
    statistics().count(what, form::nonblocking, why);
    return pass();
}

template<class Describe, class Pass>
int do_persistent(function what, MPI_Comm comm, MPI_Request* request, const Describe& describe,
                  const Pass& pass) noexcept {
    reason why = reason::none;
    try {
        prepared call;
        served* const with = taker_of(comm, form::persistent, describe, call, why);
        if (with != nullptr) {
            statistics().count(what, form::persistent, why);
            return persistent_requests().add(*with, std::move(call), request);
        }
    } catch (const std::bad_alloc&) {
        return fail_without_memory(comm, "a persistent collective");
    }
    statistics().count(what, form::persistent, why);
    return away(pass);
}

}  // namespace ucg::mpi
