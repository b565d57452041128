// The ways to carry out operations on a peer's memory, as protocols of a request.
#pragma once

#include "ucp/core/request.hpp"
#include "ucp/proto/protocol.hpp"

namespace ucp {

extern const protocol rma_direct;          // ucp/rma/direct.cpp: loads and stores, after a fence
extern const protocol rma_single_copy;     // ucp/rma/single_copy.cpp
extern const protocol rma_put_copied;      // ucp/rma/put_copied.cpp
extern const protocol rma_lane_flush;      //
extern const protocol rma_put_messages;    // ucp/rma/messages.cpp
extern const protocol rma_get_messages;    //
extern const protocol rma_atomic_message;  // ucp/amo/amo.cpp
extern const protocol rma_reply;           // ucp/rma/target.cpp: the owner's data for a get

// Sends a question that the owner of the memory answers by the request's id, which `pack` writes;
// it gets the request. The result is that of a protocol's progress.
// The request waits aside while the owner has too many such questions from the endpoint;
// abandon_question takes it from there.
ucs_status_t ask_owner(request& send, uct::am_id id, uct::pack_function pack);
void abandon_question(request& send);

// Copies data that arrived to where the operation wants it.
void scatter(send_state& into, std::size_t offset, const void* data, std::size_t length) noexcept;

}  // namespace ucp
