// Casts between C handles and C++ objects; no other file does this.
#pragma once

#include "ucp/api/ucp.h"
#include "ucp/cm/listener.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/mem/rkey.hpp"
#include "ucs/type/handle.hpp"

// The C handle of a configuration is this object itself.
struct ucp_config {
    ucs::config::source source;
};

namespace ucp {
struct message;
}

namespace ucp::capi {

UCS_HANDLE(ucp_context_h, context)
UCS_HANDLE(ucp_worker_h, worker)
UCS_HANDLE(ucp_ep_h, ep)
UCS_HANDLE(ucp_listener_h, cm::listener)
UCS_HANDLE(ucp_conn_request_h, cm::conn_request)
UCS_HANDLE(ucp_tag_message_h, message)
UCS_HANDLE(ucp_mem_h, mem::memory)
UCS_HANDLE(ucp_rkey_h, mem::rkey)

// NULL for no message.
inline ucp_tag_message_h handle(message* object) noexcept {
    return reinterpret_cast<ucp_tag_message_h>(object);
}

}  // namespace ucp::capi
