// What all forms of a collective have in common: who serves the call, and the counting of it.
#pragma once

#include <new>

#include "ucg/mpi/describe.hpp"
#include "ucg/mpi/operation.hpp"
#include "ucg/mpi/persistent.hpp"

namespace ucg::mpi {

// The group of a communicator for a call of this form; nullptr and why not. Groups are made where
// all ranks may wait for each other, which is nowhere in a non-blocking call.
inline served* group_for(MPI_Comm comm, form how, reason& why) noexcept {
    why = reason::inactive;
    if (!library().active || comm == MPI_COMM_NULL) return nullptr;
    served* of = served::find(comm);
    if (of == nullptr && how != form::nonblocking) of = served::make(comm);
    const reason none_there = how == form::nonblocking ? reason::not_yet : reason::no_group;
    why = of != nullptr ? of->refused() : none_there;
    return why == reason::none ? of : nullptr;
}

// `describe`: a prepared and the communicator's group -> reason. `pass`: the MPI's own function.
template<class Describe, class Pass>
int do_blocking(function what, MPI_Comm comm, const Describe& describe, const Pass& pass) noexcept {
    reason why = reason::none;
    served* const of = group_for(comm, form::blocking, why);
    if (of != nullptr) {
        try {
            prepared call;
            why = describe(call, *of);
            if (why == reason::none) {
                statistics().count(what, form::blocking, why);
                if (const int status = call.before(); status != MPI_SUCCESS) return status;
                kept_request* with = nullptr;
                ucs_status_t status = of->get(call, with);
                if (status == UCS_OK) status = ucg_request_start(with->request);
                if (status == UCS_OK) status = of->wait(with->request);
                if (status != UCS_OK) return of->fail(ucg_coll_name(call.args.coll), status);
                return call.after();
            }
        } catch (const std::bad_alloc&) {
            return of->fail("a collective", UCS_ERR_NO_MEMORY);
        }
    }
    statistics().count(what, form::blocking, why);
    return away(pass);
}

template<class Describe, class Pass>
int do_nonblocking(function what, MPI_Comm comm, MPI_Request* request, const Describe& describe,
                   const Pass& pass) noexcept {
    reason why = reason::none;
    served* const of = group_for(comm, form::nonblocking, why);
    if (of != nullptr) {
        try {
            prepared call;
            why = describe(call, *of);
            if (why == reason::none) {
                statistics().count(what, form::nonblocking, why);
                auto* const made = new operation(*of, std::move(call));
                const int status = made->start(request);
                if (status != MPI_SUCCESS) delete made;
                return status;
            }
        } catch (const std::bad_alloc&) {
            return of->fail("a collective", UCS_ERR_NO_MEMORY);
        }
    }
    statistics().count(what, form::nonblocking, why);
    return pass();
}

template<class Describe, class Pass>
int do_persistent(function what, MPI_Comm comm, MPI_Request* request, const Describe& describe,
                  const Pass& pass) noexcept {
    reason why = reason::none;
    served* const of = group_for(comm, form::persistent, why);
    if (of != nullptr) {
        try {
            prepared call;
            why = describe(call, *of);
            if (why == reason::none) {
                statistics().count(what, form::persistent, why);
                return persistent_requests().add(*of, std::move(call), request);
            }
        } catch (const std::bad_alloc&) {
            return of->fail("a persistent collective", UCS_ERR_NO_MEMORY);
        }
    }
    statistics().count(what, form::persistent, why);
    return away(pass);
}

}  // namespace ucg::mpi
