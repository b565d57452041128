// The common part of all forms of a collective: deciding if ucg or the MPI serves the call, and
// counting it.
#pragma once

#include <new>

#include "ucg/mpi/describe.hpp"
#include "ucg/mpi/operation.hpp"
#include "ucg/mpi/persistent.hpp"

namespace ucg::mpi {

// Fills `call` by `describe` (a function of a prepared_call and comm_info that returns a reason).
// Returns the state of the communicator if ucg serves the call; otherwise nullptr, and `why` is the
// reason why the MPI serves it. Creates the group if ucg would serve the call and if all ranks may
// wait for each other, which excludes non-blocking calls. Every decision has the same result on all
// ranks.
template<class Describe>
comm_state* server_of(MPI_Comm comm, form form, const Describe& describe, prepared_call& call,
                      reason& why) {
    why = reason::inactive;
    if (!library().active || comm == MPI_COMM_NULL) return nullptr;
    comm_state* const state = comm_state::find_or_create(comm);
    const comm_info info = state != nullptr ? state->members() : comm_info_of(comm);
    why = state != nullptr ? state->refused() : without_group(info);
    if (why == reason::none) {
        why = describe(call, info);
        return why == reason::none ? state : nullptr;
    }
    if (why != reason::not_yet || form == form::nonblocking) return nullptr;
    // This rank takes part in the creation of the group even if it has no memory for the call.
    bool described = true;
    try {
        why = describe(call, info);
        if (why != reason::none) return nullptr;
    } catch (const std::bad_alloc&) {
        described = false;
    }
    if (state != nullptr && described)
        state->join();
    else
        comm_state::decline(comm);
    if (state != nullptr && state->refused() == reason::none) return state;
    why = reason::no_group;
    return nullptr;
}

// The communicator has a group, and other ranks may be in the call already.
inline int fail_without_memory(MPI_Comm comm, const char* name) noexcept {
    comm_state* const state = comm_state::find(comm);
    return state != nullptr ? state->fail(name, UCS_ERR_NO_MEMORY) : MPI_ERR_NO_MEM;
}

inline int run_blocking(comm_state& state, prepared_call& call) {
    if (const int status = call.before(); status != MPI_SUCCESS) return status;
    cached_request* cached = nullptr;
    ucs_status_t status = state.get(call, cached);
    if (status == UCS_OK) status = ucg_request_start(cached->request);
    if (status == UCS_OK) status = state.wait(cached->request);
    if (status != UCS_OK) return state.fail(ucg_coll_name(call.args.coll), status);
    return call.after();
}

inline int start_nonblocking(comm_state& state, prepared_call& call, MPI_Request* request) {
    auto* const made = new operation(state, std::move(call));
    const int status = made->start(request);
    if (status != MPI_SUCCESS) delete made;
    return status;
}

inline int make_persistent(comm_state& state, prepared_call& call, MPI_Request* request) {
    return persistent_requests().add(state, std::move(call), request);
}

// Serves a call of MPI: `start` (the communicator's state and the prepared call -> MPI's status)
// runs it on ucg, `pass` calls the MPI's own function. `describe` as for server_of().
template<class Describe, class Start, class Pass>
int do_collective(function collective, form form, MPI_Comm comm, const Describe& describe,
                  const Start& start, const Pass& pass) noexcept {
    try {
        prepared_call call;
        reason why = reason::none;
        comm_state* const state = server_of(comm, form, describe, call, why);
        statistics().count(collective, form, why);
        if (state != nullptr) return start(*state, call);
    } catch (const std::bad_alloc&) {
        return fail_without_memory(comm, "a collective");
    }
    return form == form::nonblocking ? pass() : call_blocking(pass);
}

}  // namespace ucg::mpi
